// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Zeros of the right sizes, and which networks have derivatives.
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/gradient/objective.h"

namespace mixcert {
namespace {

bool has_differentiable_law(const DenseLayer& layer) {
  return layer.has_independent_outputs() && layer.is_gaussian();
}

}  // namespace

NetworkGradient zero_gradient(const Network& network) {
  NetworkGradient gradient;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    const Matrix weights = Matrix::Zero(layer.outputs(), layer.inputs());
    const Vector bias = Vector::Zero(layer.outputs());
    gradient.push_back({weights, weights, bias, bias});
  }
  return gradient;
}

void require_differentiable(const Network& network) {
  require(!network.has_masks() && !network.has_own_noise(),
          "gradient: expected a network without dropout and noise layers");
  for (Index k = 0; k < network.layer_count(); ++k) {
    require(has_differentiable_law(network.layer(k)),
            "gradient: layer '" + network.layer(k).name() +
                "': expected independent Gaussian or deterministic weights and biases");
  }
}

}  // namespace mixcert
