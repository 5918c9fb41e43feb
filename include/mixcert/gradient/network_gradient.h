// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of a number with respect to every parameter of a network: means and variances of weights and
// biases. Layers must have independent or deterministic weights and biases.
#pragma once

#include <vector>

#include "mixcert/network/network.h"

namespace mixcert {

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

}  // namespace mixcert
