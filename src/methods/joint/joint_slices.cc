// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Strided copies: coordinates are neuron-major.
#include <utility>
#include <vector>

#include "methods/joint/joint_tracer.h"

namespace mixcert {

bool has_independent_neurons(const Covariance& covariance, Index input_count) {
  return covariance.block_size() == input_count && covariance.rank() == 0;
}

Vector at_input(const Vector& values, Index input, Index input_count) {
  const Index neurons = values.size() / input_count;
  return Eigen::Map<const Matrix>(values.data(), input_count, neurons).row(input).transpose();
}

SurrogateLaw surrogate_at_input(const SurrogateLaw& law, Index input, Index input_count) {
  SurrogateLaw one;
  for (const auto field :
       {&SurrogateLaw::mean, &SurrogateLaw::gain, &SurrogateLaw::linear, &SurrogateLaw::quadratic,
        &SurrogateLaw::rest, &SurrogateLaw::error, &SurrogateLaw::second, &SurrogateLaw::second_error,
        &SurrogateLaw::square_slope, &SurrogateLaw::square_slope_error, &SurrogateLaw::square_rest}) {
    one.*field = at_input(law.*field, input, input_count);
  }
  return one;
}

Gaussian law_at_input(const Gaussian& law, Index input, Index input_count) {
  const Covariance& covariance = law.covariance;
  Vector mean = at_input(law.mean, input, input_count);
  if (has_independent_neurons(covariance, input_count)) {
    return {std::move(mean), Covariance::diagonal(at_input(covariance.variances(), input, input_count))};
  }
  std::vector<Index> indices;
  for (Index j = 0; j < mean.size(); ++j) indices.push_back(j * input_count + input);
  return {std::move(mean), Covariance::dense(covariance.submatrix(indices))};
}

}  // namespace mixcert
