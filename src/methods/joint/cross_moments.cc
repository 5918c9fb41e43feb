// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Neuron by neuron, docs/theory/joint-moments.md (J.2), (J.4).
#include "methods/joint/cross_moments.h"

#include <algorithm>
#include <vector>

#include "methods/joint/neuron_moments.h"

namespace mixcert {
namespace {

CrossMoments empty_moments(Index neurons, Index inputs) {
  CrossMoments moments;
  moments.mean.resize(inputs, neurons);
  moments.covariance.resize(neurons * inputs, inputs);
  moments.fourth.resize(neurons * inputs, inputs);
  for (Vector* field : {&moments.mean_error, &moments.error, &moments.fourth_error}) field->resize(neurons);
  moments.coordinates.resize(static_cast<std::size_t>(neurons * inputs));
  return moments;
}

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
  const auto own = moments.coordinates.begin() + static_cast<std::ptrdiff_t>(j * inputs);
  std::copy(own - static_cast<std::ptrdiff_t>(inputs), own, own);
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
  CrossMoments moments = empty_moments(neurons, input_count);
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

CrossMoments written_moments(const std::vector<std::shared_ptr<const NeuronMoments>>& kept,
                             Index input_count) {
  CrossMoments moments = empty_moments(static_cast<Index>(kept.size()), input_count);
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (j > 0 && kept[j] == kept[j - 1]) {
      repeat_neuron(static_cast<Index>(j), moments);
    } else {
      kept[j]->write(static_cast<Index>(j), moments);
    }
  }
  return moments;
}

}  // namespace mixcert
