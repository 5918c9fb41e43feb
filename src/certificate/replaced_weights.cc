// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// D_lj = (W2^2 of the unit law to the unit normal) * variance_lj (W.2).
#include "certificate/replaced_weights.h"

#include "mixcert/core/rounding.h"

namespace mixcert {

Vector replaced_weight_errors(const DenseLayer& layer, ConstVectorRef second_moments, Index input_count) {
  Vector errors = Vector::Zero(layer.outputs());
  if (const Matrix* variances = independent_variances(layer.weights())) {
    const double distance = entry_law(layer.weights()).squared_distance_to_normal();
    const Vector per_neuron =
        second_moments.reshaped(input_count, layer.inputs()).colwise().sum().transpose();
    if (distance > 0.0) errors += distance * (*variances * per_neuron);
  }
  if (const Vector* variances = independent_variances(layer.bias())) {
    const double distance = entry_law(layer.bias()).squared_distance_to_normal();
    errors += static_cast<double>(input_count) * distance * *variances;
  }
  return (1.0 + rounding_gamma(layer.inputs() + input_count + 16)) * errors;
}

}  // namespace mixcert
