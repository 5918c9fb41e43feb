// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The two ends of every backward pass: derivatives of transport costs in laws, and what derivatives in laws,
// in error norms and in metrics say about the weights.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/gradient/objective.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "sensitivity/error_norm.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

// Derivatives of W2 between Gaussians and of MW2 between mixtures with respect to the first of the two
// (docs/theory/gradients.md), and of the gain of structured covariances.

/// |m_a - m_b|^2 + Bures^2(A, B) and its derivatives in m_a and A.
struct GaussianTransportGradient {
  double squared = 0.0;
  Vector mean;
  Matrix covariance;  ///< I - T, T the transport map from N(0, A) to N(0, B); symmetric
};

GaussianTransportGradient gaussian_transport_gradient(ConstVectorRef mean_a, ConstMatrixRef covariance_a,
                                                      ConstVectorRef mean_b, ConstMatrixRef covariance_b);

/// MW2(a, b) and its derivatives in the components of a. Weights are constants: where several plans are
/// optimal, the derivatives are those of the one found.
struct MixtureTransportGradient {
  double distance = 0.0;
  std::vector<Vector> means;
  std::vector<Matrix> covariances;  ///< dense
};

MixtureTransportGradient mixture_transport_gradient(const GaussianMixture& a, const GaussianMixture& b);

// Derivatives of the gain tr sqrt(X) - sum_i sqrt(x_i), X = diag(x) + Y Y' (T.3), (Z.24).

struct TraceSqrtGradient {
  /// In the diagonal blocks of X, stacked, where Y keeps its value and diag(x) may become any symmetric
  /// block.
  Matrix blocks;
  Matrix columns;  ///< in Y
};

/// x >= 0; Y = `all_columns`, of which those that the value uses have derivatives.
TraceSqrtGradient trace_sqrt_gradient(ConstVectorRef x, ConstMatrixRef all_columns, Index block_size);

// What a number made of a mixture says about its components.

/// Derivatives of a number in the components of a mixture, dense; weights of components are constants.
struct MixtureCotangent {
  std::vector<Vector> means;
  std::vector<Matrix> covariances;
};

// Derivatives of a number f with respect to a Gaussian: df = mean' dm + <blocks, dB> + <factor, dF> for
// changes dm of the mean, dB of the stacked (symmetric) blocks and dF of the low-rank factor. `blocks` is
// symmetric in each block, so that an off-diagonal entry and its mirror image share the derivative;
// derivatives of transport costs at singular blocks need not be, and act on factors from the left (Z.24).

struct GaussianGradient {
  Vector mean;
  Matrix blocks;  ///< the size of Covariance::stacked_blocks()
  Matrix factor;  ///< the size of Covariance::factor()

  static GaussianGradient zero(const Gaussian& gaussian) {
    return {Vector::Zero(gaussian.dimension()),
            Matrix::Zero(gaussian.dimension(), gaussian.covariance.block_size()),
            Matrix::Zero(gaussian.dimension(), gaussian.covariance.rank())};
  }
};

// Derivatives through the error norms of (M.8): from what a local error says about metrics and Gram matrices
// back to the weights' means and variances (Z.4), (Z.5).

/// Derivatives in what a NormTerm hands to the local error.
struct NormGradient {
  Vector metric;      ///< in the diagonal of Q
  Matrix gram;        ///< in M'QM, symmetric; empty where the local error did not use it
  Vector gram_roots;  ///< in `gram_roots`; empty where the local error did not use them
};

/// Hidden layer k used error norms[k-1][error norm]; derivatives of its norms. No norms: nothing to add.
struct ErrorNormGradient {
  std::size_t error_norm = 0;
  std::vector<NormGradient> norms;
};

/// Adds to `gradient` what `error_norms` (entry k-1 for hidden layer k) say; the error norms are those of
/// SensitivityMode::Closed, in its order. The semidefinite program has no derivatives: another index is
/// refused. The network must have passed require_differentiable.
void add_error_norm_gradient(const Network& network, const std::vector<ErrorNormGradient>& error_norms,
                             NetworkGradient& gradient);

/// Adds derivatives in variances; nothing where the layer has none: it keeps zeros.
void add_weight_variance(const DenseLayer& layer, ConstMatrixRef variance_bar, LayerGradient& gradient);
void add_bias_variance(const DenseLayer& layer, ConstVectorRef variance_bar, LayerGradient& gradient);

// Derivatives through the chains of metrics of analyse_sensitivity: from what terms of a certificate say
// about metrics back to weights, (Z.27).

class ChainGradient {
 public:
  /// Both must outlive this.
  ChainGradient(const Network& network, const Sensitivity& sensitivity)
      : network_(network), sensitivity_(sensitivity) {}

  /// Adds derivatives in the metric of hidden layer `layer` (1..K) of the chain `name`, per coordinate of
  /// `input_count` inputs.
  void add(const std::string& name, Index layer, ConstVectorRef metric_bar, Index input_count);

  /// Adds what all of them say about the weights.
  void pull_back(NetworkGradient& gradient) const;

 private:
  void pull_back_paper(const std::vector<Vector>& bars, NetworkGradient& gradient) const;
  void pull_back_metrics(std::size_t chain, std::vector<Vector> bars, NetworkGradient& gradient) const;

  const Network& network_;
  const Sensitivity& sensitivity_;
  std::map<std::string, std::vector<Vector>> bars_;  ///< by chain and hidden layer; empty where none
};

/// The chain of that name: `paper` or one of sensitivity.metrics.
const MetricChain& chain_named(const Sensitivity& sensitivity, const std::string& name);

// Derivatives through (N.2): a point pushed through a dense layer with independent weights, (Z.26).

/// Adds to `gradient` and returns the derivatives in the point (activations, neuron-major over inputs).
/// `bar`: derivatives in the law of the layer's outputs.
Vector pull_back_push(const DenseLayer& layer, ConstVectorRef point, Index input_count,
                      const GaussianGradient& bar, LayerGradient& gradient);

}  // namespace mixcert
