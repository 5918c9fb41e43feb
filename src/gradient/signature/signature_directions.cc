// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How a signature's directions move with the covariance they are eigenvectors of (Z.21), and the shifted
// inverse that says it (Z.22).
#include <Eigen/QR>
#include <cmath>

#include "gradient/signature/signature_gradient.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {

// In eigenvectors of the blocks C = diag(beta) + F F', scaled so that lambda = 1. With x = 1 - beta and z =
// F'y, (I - C) y = b reads  x y - F z = b: coordinates with |x| above kNear are eliminated, and
//     [ x_near        -F_near              ] [y_near]   [ b_near            ]
//     [ -F_near'   I - F_far' F_far / x_far ] [  z   ] = [ F_far' b_far / x_far ]
// is left, small and symmetric. Its null vectors are those of I - C; b and y are made orthogonal to them.

namespace {

constexpr double kNear = 1e-3;

/// The small system and what takes its solutions back.
class ReducedSystem {
 public:
  ReducedSystem(Vector x, const Matrix& factor) : x_(std::move(x)), factor_(factor) {
    for (Index i = 0; i < x_.size(); ++i) {
      if (std::abs(x_(i)) <= kNear) near_.push_back(i);
    }
    inverse_far_ = (x_.array().abs() > kNear).select(x_.cwiseInverse(), 0.0);
    const auto count = static_cast<Index>(near_.size());
    const Index rank = factor_.cols();
    Matrix system(count + rank, count + rank);
    system.topLeftCorner(count, count) = x_(near_).asDiagonal();
    system.topRightCorner(count, rank) = -factor_(near_, Eigen::all);
    system.bottomLeftCorner(rank, count) = system.topRightCorner(count, rank).transpose();
    system.bottomRightCorner(rank, rank) =
        Matrix::Identity(rank, rank) - factor_.transpose() * inverse_far_.asDiagonal() * factor_;
    eigen_ = symmetric_eigen(system);
    inverse_ =
        eigen_.values.unaryExpr([](double v) { return std::abs(v) > kEqualEigenvalues ? 1.0 / v : 0.0; });
    // lambda is an eigenvalue, whatever rounding says.
    Index least = 0;
    eigen_.values.cwiseAbs().minCoeff(&least);
    inverse_(least) = 0.0;
  }

  /// Orthonormal null vectors of I - C.
  [[nodiscard]] Matrix null_space() const {
    std::vector<Index> null;
    for (Index i = 0; i < inverse_.size(); ++i) {
      if (inverse_(i) == 0.0) null.push_back(i);
    }
    Matrix vectors(x_.size(), static_cast<Index>(null.size()));
    for (Index i = 0; i < vectors.cols(); ++i) {
      vectors.col(i) = expand(eigen_.vectors.col(null[static_cast<std::size_t>(i)]), Vector::Zero(x_.size()));
    }
    const Eigen::HouseholderQR<Matrix> qr(vectors);
    return qr.householderQ() * Matrix::Identity(vectors.rows(), vectors.cols());
  }

  [[nodiscard]] Vector solve(const Vector& right) const {
    Vector reduced(inverse_.size());
    reduced << right(near_), factor_.transpose() * inverse_far_.cwiseProduct(right);
    const Vector coordinates = inverse_.cwiseProduct(eigen_.vectors.transpose() * reduced);
    return expand(eigen_.vectors * coordinates, right);
  }

 private:
  [[nodiscard]] Vector expand(const Vector& reduced, const Vector& right) const {
    Vector full = inverse_far_.cwiseProduct(right + factor_ * reduced.tail(factor_.cols()));
    full(near_) = reduced.head(static_cast<Index>(near_.size()));
    return full;
  }

  Vector x_;
  const Matrix& factor_;
  std::vector<Index> near_;
  Vector inverse_far_;
  SymmetricEigen eigen_;
  Vector inverse_;
};

}  // namespace

ShiftedInverse::ShiftedInverse(const Covariance& covariance)
    : values_(covariance.dimension()), factor_(covariance.dimension(), covariance.rank()) {
  const Index b = covariance.block_size();
  SymmetricEigen eigen;
  for (Index i = 0; i < covariance.block_count(); ++i) {
    // Neurons of a prior are often alike.
    if (i == 0 || covariance.block(i) != covariance.block(i - 1))
      eigen = symmetric_eigen(covariance.block(i));
    values_.segment(i * b, b) = eigen.values;
    rotations_.push_back(eigen.vectors);
  }
  for (Index c = 0; c < covariance.rank(); ++c) factor_.col(c) = rotate(covariance.factor().col(c), false);
}

Vector ShiftedInverse::rotate(ConstVectorRef x, bool back) const {
  const Index b = rotations_.front().rows();
  Vector result(x.size());
  for (std::size_t i = 0; i < rotations_.size(); ++i) {
    const auto rows = Eigen::seqN(static_cast<Index>(i) * b, b);
    if (back) {
      result(rows) = rotations_[i] * x(rows);
    } else {
      result(rows) = rotations_[i].transpose() * x(rows);
    }
  }
  return result;
}

Vector ShiftedInverse::solve(double lambda, ConstVectorRef right) const {
  Vector b = rotate(right, false) / lambda;
  const Vector x = 1.0 - values_.array() / lambda;
  if (factor_.cols() == 0) {
    const Vector inverse = (x.array().abs() > kEqualEigenvalues).select(x.cwiseInverse(), 0.0);
    return rotate(inverse.cwiseProduct(b), true);
  }
  const Matrix factor = factor_ / std::sqrt(lambda);
  const ReducedSystem system(x, factor);
  const Matrix null = system.null_space();
  b -= null * (null.transpose() * b).eval();
  Vector y = system.solve(b);
  y -= null * (null.transpose() * y).eval();
  return rotate(y, true);
}

// With exact eigenpairs (lambda_d, v_d) of C' = G^{1/2} C G^{1/2} the orthonormalisation of (S.2) changes
// nothing but lengths: u_d = lambda_d^{1/2} G^{-1/2} v_d. So the recorded directions contain the eigenpairs.

namespace {

/// u = sqrt(variance) of its coordinate (Z.21).
void pull_back_coordinates(const GridSignature& signature, ComponentGradient& gradient) {
  for (Index d = 0; d < signature.axis_count(); ++d) {
    const Index i = signature.coordinates[static_cast<std::size_t>(d)];
    gradient.gaussian.blocks(i, 0) += gradient.directions(i, d) / (2.0 * signature.directions(i, d));
  }
}

/// Symmetric (a b' + b a')/2 as derivatives in a covariance: its blocks, and through F F' its factor.
void add_outer(const Vector& a, const Vector& b, const Covariance& covariance, GaussianGradient& gradient) {
  const Index size = covariance.block_size();
  for (Index i = 0; i < covariance.dimension(); i += size) {
    const Matrix product = a.segment(i, size) * b.segment(i, size).transpose();
    gradient.blocks.middleRows(i, size) += 0.5 * (product + product.transpose());
  }
  if (covariance.rank() == 0) return;
  gradient.factor += a * (b.transpose() * covariance.factor()) + b * (a.transpose() * covariance.factor());
}

}  // namespace

Vector pull_back_directions(const Gaussian& gaussian, const GridSignature& signature, ConstVectorRef metric,
                            ComponentGradient& gradient) {
  Vector metric_bar = Vector::Zero(metric.size());
  if (signature.axis_count() == 0) return metric_bar;
  if (gaussian.covariance.is_diagonal()) {
    pull_back_coordinates(signature, gradient);
    return metric_bar;
  }
  const Vector scale = metric.cwiseSqrt();
  const Covariance scaled = gaussian.covariance.scaled(scale);
  const ShiftedInverse inverse(scaled);
  GaussianGradient bar = GaussianGradient::zero({gaussian.mean, scaled});
  for (Index d = 0; d < signature.axis_count(); ++d) {
    const Vector scaled_direction = scale.cwiseProduct(signature.directions.col(d));
    const double root = scaled_direction.norm();
    const Vector v = scaled_direction / root;
    const Vector right = gradient.directions.col(d).cwiseQuotient(scale);
    // d(lambda^{1/2} v) = v (v'dC v)/(2 lambda^{1/2}) + lambda^{1/2} (lambda - C)^+ dC v   (Z.22)
    const Vector moved = root * inverse.solve(root * root, right) + v * (right.dot(v) / (2.0 * root));
    add_outer(moved, v, scaled, bar);
  }
  // C' = G^{1/2} C G^{1/2} and u = G^{-1/2} (...).
  const Vector through_scale = bar.blocks.cwiseProduct(scaled.stacked_blocks()).rowwise().sum() +
                               0.5 * bar.factor.cwiseProduct(scaled.factor()).rowwise().sum() -
                               0.5 * gradient.directions.cwiseProduct(signature.directions).rowwise().sum();
  metric_bar = through_scale.cwiseQuotient(metric);
  gradient.gaussian.blocks += Covariance::block_diagonal(bar.blocks).scaled(scale).stacked_blocks();
  gradient.gaussian.factor += scale.asDiagonal() * bar.factor;
  return metric_bar;
}

}  // namespace mixcert
