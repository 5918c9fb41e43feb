// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// With exact eigenpairs (lambda_d, v_d) of C' = G^{1/2} C G^{1/2} the orthonormalisation of (S.2) changes
// nothing but lengths: u_d = lambda_d^{1/2} G^{-1/2} v_d. So the recorded directions contain the eigenpairs.
#include <cmath>

#include "gradient/shifted_inverse.h"
#include "gradient/signature/signature_layer.h"

namespace mixcert {
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
