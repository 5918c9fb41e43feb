// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// For C = blockdiag(B_1, ..., B_p) + F F' with B_i = L_i L_i':
//     x = mean + blockdiag(L_i) e + F f,   e, f standard normal,
// so a diagonal costs one multiplication per number and nothing is expanded.
#include "statistics/simulate/gaussian_sampler.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

GaussianSampler::GaussianSampler(const Gaussian& gaussian)
    : mean_(gaussian.mean), factor_(gaussian.covariance.factor()) {
  const Covariance& covariance = gaussian.covariance;
  const Index size = covariance.block_size();
  if (size == 1) {
    block_factors_ = positive_part(covariance.stacked_blocks()).cwiseSqrt();
    return;
  }
  block_factors_.resize(covariance.dimension(), size);
  for (Index i = 0; i < covariance.block_count(); ++i) {
    block_factors_.middleRows(i * size, size) = psd_factor(covariance.block(i));
  }
}

Matrix GaussianSampler::draw(Generator& generator, Index count) const {
  const Index size = block_factors_.cols();
  Matrix samples(mean_.size(), count);
  fill_normal(generator, samples);
  if (size == 1) {
    samples.array().colwise() *= block_factors_.col(0).array();
  } else {
    for (Index row = 0; row < mean_.size(); row += size) {
      samples.middleRows(row, size) = block_factors_.middleRows(row, size) * samples.middleRows(row, size);
    }
  }
  if (factor_.cols() > 0) {
    Matrix shared(factor_.cols(), count);
    fill_normal(generator, shared);
    samples.noalias() += factor_ * shared;
  }
  samples.colwise() += mean_;
  return samples;
}

// Cholesky costs a tenth of the eigendecomposition and succeeds for regular covariances.
// A pivoted LDL' would do for singular ones, but its error there is sqrt(roundoff), that
// of the eigendecomposition roundoff.

Matrix psd_factor(ConstMatrixRef matrix) {
  if (matrix.rows() == 1) return Matrix::Constant(1, 1, std::sqrt(positive_part(matrix(0, 0))));
  const Eigen::LLT<Matrix> cholesky(matrix);
  if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  return eigen.vectors * positive_part(eigen.values).cwiseSqrt().asDiagonal();
}

}  // namespace mixcert
