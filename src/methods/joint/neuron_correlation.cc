// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.5). The spectral norm of X_i C_ij X_j' is bounded by its Schatten norm of
// order eight: a trace, where a computed singular value would be a lower bound only. Beside a factor F
// entries of C are products of its rows, in which all digits may cancel: they are known relative to the
// deviations, not to themselves (R.8).
#include "methods/joint/neuron_correlation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "methods/joint/cross_moments.h"
#include "methods/joint/truncated_noise.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
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
