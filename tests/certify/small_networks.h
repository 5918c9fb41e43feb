// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks written down entry by entry, for tests that need one particular network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mixcert/network/network.h"

namespace mixcert::testing {

/// Independent weights and bias; variances zero where the matrices are.
inline DenseLayer mean_field_layer(Matrix mean, Matrix variance, Vector bias_mean, Vector bias_variance) {
  return {"layer", std::move(mean), std::move(bias_mean), MeanFieldWeights{std::move(variance)},
          IndependentBias{std::move(bias_variance)}};
}

/// A layer of one weight: W ~ N(mean, variance), b ~ N(bias, bias_variance).
inline DenseLayer scalar_layer(double mean, double variance, double bias, double bias_variance) {
  return mean_field_layer(Matrix::Constant(1, 1, mean), Matrix::Constant(1, 1, variance),
                          Vector::Constant(1, bias), Vector::Constant(1, bias_variance));
}

/// Weights that are their means, without a bias.
inline DenseLayer fixed_layer(Matrix weights) {
  Vector bias = Vector::Zero(weights.rows());
  return {"fixed", std::move(weights), std::move(bias), DeterministicWeights{}, DeterministicBias{}};
}

/// The same activation between all layers, none on the input.
inline Network network_of(std::vector<DenseLayer> layers, ActivationFunction function) {
  std::vector<ActivationMap> activations(layers.size(), Activation(function));
  activations.front() = Activation(ActivationFunction::Identity);
  return {std::move(layers), std::move(activations)};
}

/// The same layers with masks in front of them, and with neurons that pass activations unchanged.
inline Network with_masks(const Network& network, std::vector<Mask> masks,
                          const std::vector<std::vector<bool>>& unchanged = {}) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (Index k = 0; k < network.layer_count(); ++k) {
    layers.push_back(network.layer(k));
    const auto at = static_cast<std::size_t>(k);
    activations.emplace_back(network.activation(k).common(),
                             unchanged.empty() ? std::vector<bool>() : unchanged[at]);
  }
  return {std::move(layers), std::move(activations), std::move(masks)};
}

}  // namespace mixcert::testing
