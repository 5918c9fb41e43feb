// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Maps between Gaussians, docs/theory/statistics.md (C.3). The usual formula of the optimal map,
// C_1^{-1/2} (C_1^{1/2} C_2 C_1^{1/2})^{1/2} C_1^{-1/2}, needs a regular C_1; through white noise none is
// needed.
#include "statistics/gaussian_map.h"

#include <cmath>

#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

/// Eigenvalues below this part of the largest count as zero: above what was added to the stored matrices
/// against rounding (H.5), which samples do not have. Costs nothing in the law, for those directions get
/// fresh noise of the full stored variance.
double vanishing_part(Index dimension) {
  const auto n = static_cast<double>(dimension);
  return 1e-8 + 1e-13 * n * n * n;
}

}  // namespace

Whitening::Whitening(const Gaussian& gaussian) : mean_(gaussian.mean) {
  if (gaussian.covariance.is_diagonal()) {
    values_ = gaussian.covariance.variances();
  } else {
    SymmetricEigen eigen = symmetric_eigen(gaussian.covariance.to_dense());
    values_ = positive_part(eigen.values);
    vectors_ = std::move(eigen.vectors);
  }
  const double least = is_diagonal() ? 0.0 : vanishing_part(values_.size()) * values_.maxCoeff();
  inverse_roots_ =
      values_.unaryExpr([least](double value) { return value > least ? 1.0 / std::sqrt(value) : 0.0; });
}

Matrix Whitening::root() const {
  if (is_diagonal()) return values_.cwiseSqrt().asDiagonal();
  return vectors_ * values_.cwiseSqrt().asDiagonal() * vectors_.transpose();
}

Matrix Whitening::whiten(ConstMatrixRef samples, Generator& generator) const {
  Matrix white = samples.colwise() - mean_;
  if (!is_diagonal()) white = vectors_.transpose() * white;
  white.array().colwise() *= inverse_roots_.array();
  Matrix fresh(1, white.cols());
  for (Index j = 0; j < white.rows(); ++j) {
    if (inverse_roots_(j) > 0.0) continue;
    fill_normal(generator, fresh);
    white.row(j) = fresh;
  }
  if (!is_diagonal()) white = vectors_ * white;
  return white;
}

Matrix Whitening::apply_inverse_root(ConstMatrixRef right) const {
  if (is_diagonal()) return inverse_roots_.asDiagonal() * right;
  return vectors_ * (inverse_roots_.asDiagonal() * (vectors_.transpose() * right));
}

GaussianMap::GaussianMap(const Gaussian& from, const Gaussian& to) : from_(from), mean_(to.mean) {
  if (from_.is_diagonal() && to.covariance.is_diagonal()) {
    scale_ = to.covariance.variances().cwiseSqrt();
    return;
  }
  const Matrix root = Whitening(to).root();
  const SingularValues svd = singular_values(root * from_.root());
  matrix_ = root * (svd.left * svd.right.transpose());
}

Matrix GaussianMap::apply(ConstMatrixRef samples, Generator& generator) const {
  Matrix moved = from_.whiten(samples, generator);
  if (matrix_.size() > 0) {
    moved = matrix_ * moved;
  } else {
    moved.array().colwise() *= scale_.array();
  }
  moved.colwise() += mean_;
  return moved;
}

}  // namespace mixcert
