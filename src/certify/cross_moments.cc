// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Neuron by neuron, docs/theory/joint-moments.md (J.2), (J.4).
#include "certify/cross_moments.h"

#include <vector>

#include "certify/neuron_moments.h"

namespace mixcert {
namespace {

/// Neuron j is like the one before it.
void repeat_neuron(Index j, CrossMoments& moments) {
  const Index inputs = moments.input_count();
  moments.mean.col(j) = moments.mean.col(j - 1);
  for (Matrix* field : {&moments.covariance, &moments.fourth}) {
    field->middleRows(j * inputs, inputs) = field->middleRows((j - 1) * inputs, inputs).eval();
  }
  for (Vector* field : {&moments.mean_error, &moments.error, &moments.fourth_error}) {
    (*field)(j) = (*field)(j - 1);
  }
}

}  // namespace

Matrix neuron_block(const Covariance& covariance, Index neuron, Index input_count) {
  if (covariance.block_size() == input_count && covariance.rank() == 0) return covariance.block(neuron);
  std::vector<Index> indices;
  for (Index d = 0; d < input_count; ++d) indices.push_back(neuron * input_count + d);
  return covariance.submatrix(indices);
}

CrossMoments cross_moments(const ActivationMap& activation, const Gaussian& law, Index input_count,
                           std::vector<std::shared_ptr<const NeuronMoments>>* kept) {
  const Index neurons = law.dimension() / input_count;
  CrossMoments moments;
  moments.mean.resize(input_count, neurons);
  moments.covariance.resize(neurons * input_count, input_count);
  moments.fourth.resize(neurons * input_count, input_count);
  for (Vector* field : {&moments.mean_error, &moments.error, &moments.fourth_error}) {
    field->resize(neurons);
  }
  Vector last_mean;
  Matrix last_block;
  for (Index j = 0; j < neurons; ++j) {
    const Vector mean = law.mean.segment(j * input_count, input_count);
    const Matrix block = neuron_block(law.covariance, j, input_count);
    // All neurons of a prior are alike.
    if (activation.is_uniform() && j > 0 && mean == last_mean && block == last_block) {
      repeat_neuron(j, moments);
      if (kept != nullptr) kept->push_back(kept->back());
      continue;
    }
    const auto neuron =
        std::make_shared<const NeuronMoments>(activation.at(j), mean, block, law.covariance.rank());
    neuron->write(j, moments);
    if (kept != nullptr) kept->push_back(neuron);
    last_mean = mean;
    last_block = block;
  }
  return moments;
}

}  // namespace mixcert
