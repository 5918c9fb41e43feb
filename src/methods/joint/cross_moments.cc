// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Neuron by neuron, docs/theory/joint-moments.md (J.2), (J.4).
#include "methods/joint/cross_moments.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "methods/joint/joint_noise.h"
#include "methods/joint/neuron_moments.h"
#include "mixcert/core/rounding.h"

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

// docs/theory/joint-moments.md (J.5). The spectral norm of X_i C_ij X_j' is bounded by its Schatten norm of
// order eight: a trace, where a computed singular value would be a lower bound only. Beside a factor F
// entries of C are products of its rows, in which all digits may cancel: they are known relative to the
// deviations, not to themselves (R.8).

namespace {

/// Of any matrix within `error` of the block in the spectral norm.
ProvenInverse block_inverse(Matrix block, double error) {
  if (error > 0.0) block.diagonal().array() -= 2.0 * error;
  const double scale = block.trace() / static_cast<double>(block.rows());
  for (const double least : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
    ProvenInverse inverse = proven_inverse(block, least * scale);
    if (inverse.proven) return inverse;
  }
  return {};
}

/// |Y| <= (tr (YY')^4)^{1/8}, Y computed up to `error` in the Frobenius norm.
double spectral_bound(const Matrix& y, double error) {
  const double size = y.norm();
  if (size == 0.0) return error;
  const Matrix gram = (y / size) * (y / size).transpose();
  const Matrix square = gram * gram;
  return enlarged(size * std::pow(enlarged(square.norm()), 0.25)) + error;
}

}  // namespace

Matrix neuron_correlation(const Covariance& covariance, Index input_count) {
  if (covariance.block_size() == input_count && covariance.rank() == 0) return {};
  const Index neurons = covariance.dimension() / input_count;
  const Matrix dense = covariance.to_dense();
  const double written = covariance.rank() > 0 ? enlarged(rounding_gamma(covariance.rank() + 4)) : 0.0;
  std::vector<ProvenInverse> inverses;
  Vector traces(neurons);
  for (Index j = 0; j < neurons; ++j) {
    const Matrix block = dense.block(j * input_count, j * input_count, input_count, input_count);
    traces(j) = block.trace();
    inverses.push_back(block_inverse(block, written * traces(j)));
  }
  const double gamma = rounding_gamma(4 * input_count + covariance.rank() + 16);
  Matrix rho = Matrix::Ones(neurons, neurons);
  for (Index i = 0; i < neurons; ++i) {
    const ProvenInverse& left = inverses[static_cast<std::size_t>(i)];
    for (Index j = 0; j < i; ++j) {
      const ProvenInverse& right = inverses[static_cast<std::size_t>(j)];
      if (!left.proven || !right.proven) continue;
      const Matrix block = dense.block(i * input_count, j * input_count, input_count, input_count);
      const Matrix y = left.root * block * right.root.transpose();
      const double error = gamma * left.root.norm() * block.norm() * right.root.norm() +
                           written * std::sqrt(traces(i) * traces(j)) * left.root.norm() * right.root.norm();
      const double bound = std::sqrt(left.factor * right.factor) * spectral_bound(y, error);
      rho(i, j) = rho(j, i) = std::min(1.0, enlarged(bound));
    }
  }
  return rho;
}

}  // namespace mixcert
