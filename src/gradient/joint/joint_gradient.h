// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over several inputs jointly, backwards (docs/theory/gradients.md, Z.60 - Z.68): one
// neuron, its layers, and the whole pass, forwards as certify() runs it and backwards.
#pragma once

#include <vector>

#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "gradient/moment/moment_gradient.h"
#include "gradient/weight_gradient.h"
#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_trace.h"
#include "methods/joint/neuron_moments.h"
#include "mixcert/certificate/options.h"
#include "mixcert/gradient/objective.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

// Derivatives through the moments of one neuron at all inputs, (J.2) and (J.4): from what a number says about
// mean, covariance and fourth moments of the activation back to mean and covariance of its argument.

/// Derivatives in what CrossMoments has of one neuron.
struct NeuronCotangent {
  Vector mean;
  Matrix covariance;  ///< symmetric
  double error = 0.0;
  Matrix fourth;  ///< symmetric
  double fourth_error = 0.0;

  static NeuronCotangent zero(Index inputs) {
    return {Vector::Zero(inputs), Matrix::Zero(inputs, inputs), 0.0, Matrix::Zero(inputs, inputs), 0.0};
  }
};

/// Derivatives in mean and covariance of z over the inputs; the matrix is symmetric.
struct BlockCotangent {
  Vector mean;
  Matrix covariance;
};

/// What is still to be pulled back while a neuron's formulas are read backwards.
struct NeuronTape {
  Matrix coefficients;  ///< in c_pd, D x (order + 1); column 0 is the mean
  Vector variance;      ///< in Var a_d
  Vector slope_energy;
  Vector leftover;
  Vector mean;         ///< in m
  Vector deviation;    ///< in s
  Matrix correlation;  ///< in r; the diagonal is ignored
  Matrix activation_covariance;
  Matrix covariance;  ///< in C, directly
  double error = 0.0;
};

class NeuronGradient {
 public:
  /// `moments` must outlive this.
  explicit NeuronGradient(const NeuronMoments& moments) : at_(moments) {}

  [[nodiscard]] BlockCotangent pull_back(const NeuronCotangent& cotangent) const;

 private:
  void pull_error(NeuronTape& tape) const;
  void pull_series(NeuronTape& tape) const;
  void pull_correlation(NeuronTape& tape) const;
  void pull_expansions(NeuronTape& tape) const;

  const NeuronMoments& at_;
};

/// The fourth-moment part of it: adds to the tape.
class FourthGradient {
 public:
  explicit FourthGradient(const NeuronMoments& moments) : at_(moments) {}

  /// Derivatives in matrix and error of the bound that NeuronMoments chose.
  void pull_back(const Matrix& matrix, double error, NeuronTape& tape) const;

 private:
  void pull_supremum(double square, NeuronTape& tape) const;
  void pull_tail(double start, double square, double error, NeuronTape& tape) const;
  void pull_stein(const Matrix& matrix, double error, NeuronTape& tape) const;
  using Sums = NeuronMoments::SteinSums;
  void pull_stein_matrix(const Matrix& y, double error, NeuronTape& tape) const;
  void pull_stein_error(double error, const Matrix& w, Matrix& of_w, NeuronTape& tape) const;
  void pull_sums(const Sums& of, NeuronTape& tape) const;
  void pull_distance(double kappa, NeuronTape& tape) const;
  [[nodiscard]] double distance() const;

  const NeuronMoments& at_;
};

// Derivatives through H_j of (J.4).

/// `spread` is the symmetric derivative in H_j; adds to the derivatives in the neuron's moments.
void pull_spread(const CrossMoments& moments, Index j, const Matrix& spread, NeuronCotangent& neuron);

// Derivatives through the canonical correlations of (J.5).

/// `of_rho`: derivatives in rho_ij, every entry on its own. Adds to `law` the symmetric derivatives in the
/// covariance, dense; makes it of that size where it is empty.
void pull_neuron_correlation(const Covariance& covariance, Index input_count, const Matrix& of_rho,
                             Matrix& law);

// Derivatives through the noise of a layer at all inputs, (J.3) to (J.5): from blocks T_l and costs back to
// the weights' variances, the moments of every neuron and, where neurons depend on each other, their law.

/// Derivatives in what JointNoise hands on.
struct NoiseCotangent {
  Matrix blocks;  ///< in T_l, stacked, each symmetric
  Vector cost;
};

/// Adds to the layer's variances; `neurons` (one per neuron) receive derivatives in their moments, `law`
/// (dimension x block size, empty for independent neurons) those in the covariance through (J.5).
void pull_noise(const DenseLayer& next, const JointLayerTrace& layer, const CrossMoments& moments,
                const NoiseCotangent& cotangent, LayerGradient& gradient,
                std::vector<NeuronCotangent>& neurons, Matrix& law);

// Derivatives through the push of a layer's surrogate to the next layer, jointly over inputs (J.1), and
// through the first layer.

/// Derivatives in the surrogate's means and gains, in the law's covariance, in the noise blocks.
struct PushCotangent {
  Vector mean;
  Vector gain;
  Matrix covariance;  ///< the size of the law's stacked blocks; empty without mean weights
  Vector deviation;
  Matrix noise;  ///< stacked like JointNoise::blocks
};

/// `of` is the derivative in the pushed law; adds to the layer's means.
PushCotangent pull_joint_push(const DenseLayer& next, Index input_count, const JointLayerTrace& layer,
                              const GaussianGradient& of, LayerGradient& gradient);

// Derivatives of a layer's local error jointly over inputs, (J.1): the signal input by input, the noise by
// its costs, both in the norms of the error norm that was chosen.

struct JointLocalGradient {
  SurrogateGradient surrogate;      ///< one entry per coordinate
  Vector deviation;                 ///< in the coordinates' deviations, through correlations
  Matrix covariance;                ///< dense; empty where neurons are independent or there is no signal
  Vector cost;                      ///< in the noise costs of the outputs
  std::vector<NormGradient> norms;  ///< of the error norm
};

/// Of weight * sum_n factor_n (signal_n + metric_n' cost)^{1/2}.
JointLocalGradient joint_local_gradient(const JointLayerTrace& layer, const ErrorNorm& error_norm,
                                        Index input_count, double weight);

// The moment method over several inputs jointly, backwards: from its bound and its Gaussian to every weight's
// mean and variance, (Z.68).

/// Adds to `gradient` the derivatives of  bound_weight * bound + <output, q>.  `error_norms` are those that
/// the certificate of `trace` was evaluated with, `inputs` those of the trace.
void add_joint_gradient(const Network& network, ConstMatrixRef inputs, const ErrorNorms& error_norms,
                        const JointTrace& trace, const Certificate& certificate, double bound_weight,
                        const GaussianGradient& output, NetworkGradient& gradient);

// The whole pass: derivatives of  bound_weight * bound + (whatever the caller made of the Gaussian)  in every
// weight's mean and variance.

class JointMomentPass {
 public:
  /// Runs the forward pass at the columns of `inputs`. `network` must outlive this. Throws InvalidArgument
  /// where the network's parameters have no derivatives.
  JointMomentPass(const Network& network, ConstMatrixRef inputs, RidgeRule ridge, const Options& options);

  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  /// Certified W2 between network and mixture; infinite where there is none.
  [[nodiscard]] double bound() const { return certificate_.w2.value; }
  /// One Gaussian over outputs at all inputs, input-major: input * outputs + output.
  [[nodiscard]] const GaussianMixture& mixture() const { return mixture_; }
  [[nodiscard]] const JointTrace& trace() const { return *trace_; }

  /// Derivatives of bound_weight * bound + f, f with the given derivatives in the components of mixture();
  /// empty vectors: f is constant.
  [[nodiscard]] NetworkGradient backward(double bound_weight, const MixtureCotangent& cotangent) const;

 private:
  const Network& network_;
  Matrix inputs_;
  ErrorNorms error_norms_;
  Sealed<JointTrace> trace_;
  Certificate certificate_;
  GaussianMixture mixture_;
};

}  // namespace mixcert
