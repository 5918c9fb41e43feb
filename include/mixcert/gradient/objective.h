// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives in every weight's mean and variance, and the objective of prior selection.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

// Derivatives of a number with respect to every parameter of a network: means and variances of weights and
// biases. Layers must have independent or deterministic weights and biases.

/// Sizes are those of the layer's means. Variances that a layer does not have keep derivatives of zero.
struct LayerGradient {
  Matrix weight_mean;
  Matrix weight_variance;
  Vector bias_mean;
  Vector bias_variance;
};

/// One entry per layer.
using NetworkGradient = std::vector<LayerGradient>;

NetworkGradient zero_gradient(const Network& network);

/// Throws InvalidArgument naming the first layer whose parameters have no derivatives here: correlated,
/// shared or non-Gaussian weights, masks, noise of its own.
void require_differentiable(const Network& network);

// What prior selection minimises, and its exact derivatives: beta times the certified bound between network
// and mixture plus (1 - beta) times the distance MW2 between mixture and target, over all inputs jointly
// (paper, section "Construction of a SNN approximation of a GMM").

struct ObjectiveOptions {
  /// Moment or Signature.
  Method method = Method::Moment;
  /// Weight of the bound, in [0,1].
  double beta = 0.01;
  /// Of the signature method: grid points per component, components kept.
  Index signature_size = 10;
  Index components = 1;
  /// Of k-means++ in compressions.
  std::uint64_t seed = 0;
};

struct ObjectiveValue {
  double objective = 0.0;
  double bound = 0.0;        ///< certified, between network and mixture
  double distance = 0.0;     ///< MW2(mixture, target); exact W2 between two Gaussians
  GaussianMixture mixture;   ///< over outputs at all inputs, input-major
  NetworkGradient gradient;  ///< of `objective`; empty unless asked for
};

/// `target` is input-major: entry input * outputs + output. The forward pass is that of certify(); with
/// `with_gradient` its trace is then read backwards.
ObjectiveValue evaluate_objective(const Network& network, ConstMatrixRef inputs,
                                  const GaussianMixture& target, const ObjectiveOptions& options,
                                  bool with_gradient);

}  // namespace mixcert
