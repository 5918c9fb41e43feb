// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// D_lj = (W2^2 of the unit law to the unit normal) * variance_lj (W.2).
#include "certificate/replaced_weights.h"

#include <variant>

#include "mixcert/core/rounding.h"

namespace mixcert {

Vector replaced_weight_errors(const DenseLayer& layer, ConstVectorRef second_moments, Index input_count) {
  Vector errors = Vector::Zero(layer.outputs());
  if (const auto* weights = std::get_if<MeanFieldWeights>(&layer.weights())) {
    const double distance = weights->law.squared_distance_to_normal();
    const Vector per_neuron =
        second_moments.reshaped(input_count, layer.inputs()).colwise().sum().transpose();
    if (distance > 0.0) errors += distance * (weights->variance * per_neuron);
  }
  if (const auto* bias = std::get_if<IndependentBias>(&layer.bias())) {
    errors += static_cast<double>(input_count) * bias->law.squared_distance_to_normal() * bias->variance;
  }
  return (1.0 + rounding_gamma(layer.inputs() + input_count + 16)) * errors;
}

}  // namespace mixcert
