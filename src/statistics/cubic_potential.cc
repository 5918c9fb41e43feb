// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values, gradients and infima of the cubic potential, many points at once.
#include <algorithm>
#include <cmath>
#include <utility>

#include "mixture/symmetric_eigen.h"
#include "statistics/mean_bound.h"

namespace mixcert {
namespace {

/// Of the convexity of |y|^2/2, what psi may use up.
constexpr double kMostCurvature = 0.98;
constexpr int kMostSteps = 200;
constexpr int kMostRimSteps = 400;
constexpr double kRimGap = 1e-4;  // such points are few

double largest_eigenvalue(const Matrix& gram) { return symmetric_eigen(gram).values.maxCoeff(); }

/// No less than sup over |z| <= 1 of the norm of sum_c z_c G_c: its value at v is sum_c z_c v'G_c v, at most
/// (sum_c |G_c v|^2)^{1/2}, and at most (sum_cd z_c z_d <G_c, G_d>)^{1/2} because vv' has norm 1.
double slice_norm(const Matrix& slices) {
  const Index r = slices.rows();
  const auto rows = slices.reshaped(r * r, r);
  return std::sqrt(
      std::min(largest_eigenvalue(slices * slices.transpose()), largest_eigenvalue(rows.transpose() * rows)));
}

}  // namespace

CubicPotential::CubicPotential(const Vector& variances, Matrix cumulants, double radius)
    : deviations_(variances.cwiseSqrt()), tensor_(std::move(cumulants)), radius_(radius) {
  const Index r = variances.size();
  Matrix hessians(r, r * r);  // of psi in y: t_abc z_c / (c_a c_b)^{1/2}
  for (Index c = 0; c < r; ++c) {
    for (Index b = 0; b < r; ++b) {
      for (Index a = 0; a < r; ++a) {
        tensor_(a, b + r * c) /= 1.0 / variances(a) + 1.0 / variances(b) + 1.0 / variances(c);
        hessians(a, b + r * c) = tensor_(a, b + r * c) / (deviations_(a) * deviations_(b));
      }
    }
  }
  const double curvature = radius * slice_norm(hessians);
  if (curvature > kMostCurvature) scale_ = kMostCurvature / curvature;
  tensor_ *= scale_;
  convexity_ = 1.0 - scale_ * curvature;
  traces_ = Vector::Zero(r);
  for (Index b = 0; b < r; ++b) traces_ += tensor_.col(b + r * b);
}

Matrix CubicPotential::forms(const Matrix& z) const {
  const Index r = z.rows();
  Matrix products(r * r, z.cols());
  for (Index c = 0; c < r; ++c) products.middleRows(r * c, r) = z.array().rowwise() * z.row(c).array();
  return tensor_ * products;
}

Vector CubicPotential::values(const Matrix& z) const {
  const Matrix form = forms(z);
  return (form.cwiseProduct(z).colwise().sum().transpose() - 3.0 * z.transpose() * traces_) / 6.0;
}

Matrix CubicPotential::gradients(const Matrix& z) const {
  return deviations_.cwiseInverse().asDiagonal() * (0.5 * (forms(z).colwise() - traces_));
}

Vector CubicPotential::infima(const Matrix& z) const {
  const Matrix x = deviations_.asDiagonal() * z;
  Matrix y = x, scaled = z;
  Matrix residual = gradients(scaled);
  for (int step = 0; step < kMostSteps && residual.squaredNorm() > 1e-24 * x.squaredNorm(); ++step) {
    y -= residual;
    scaled = deviations_.cwiseInverse().asDiagonal() * y;
    for (Index i = 0; i < z.cols(); ++i) {  // beyond the ball the steps may grow
      const double far = scaled.col(i).norm() / (2.0 * radius_);
      if (far <= 1.0) continue;
      scaled.col(i) /= far;
      y.col(i) /= far;
    }
    residual = y - x + gradients(scaled);
  }
  // By strong convexity on the ball, |x - y|^2/2 + psi is at least its value at y less
  // |residual|^2/(2 convexity) everywhere in it.
  Vector bounds = (x - y).colwise().squaredNorm().transpose() + 2.0 * values(scaled) -
                  residual.colwise().squaredNorm().transpose() / convexity_;
  for (Index i = 0; i < bounds.size(); ++i) {
    if (!(scaled.col(i).norm() <= radius_)) bounds(i) = infimum_at_rim(z.col(i));
  }
  return bounds;
}

double CubicPotential::infimum_at_rim(const Vector& z) const {
  // Projected descent in z. A convex function on the ball is at least f(v) + g'(u - v) >= f(v) - g'v -
  // R |g| at every u, g its gradient at v; at the minimum on the sphere the last two cancel.
  const Vector variances = deviations_.cwiseAbs2();
  Matrix v = z * std::min(1.0, radius_ / z.norm());
  double best = -2.0 * largest();
  for (int step = 0; step < kMostRimSteps; ++step) {
    const Vector gradient =
        variances.cwiseProduct(v.col(0) - z) + deviations_.cwiseProduct(gradients(v).col(0));
    const double value = (deviations_.cwiseProduct(v.col(0) - z)).squaredNorm() + 2.0 * values(v)(0);
    const double gap = 2.0 * (gradient.dot(v.col(0)) + radius_ * gradient.norm());
    best = std::max(best, value - gap);
    if (gap <= kRimGap * std::abs(value)) break;
    v -= gradient / (2.0 * variances.maxCoeff());
    const double norm = v.norm();
    if (norm > radius_) v *= radius_ / norm;
  }
  return best;
}

double CubicPotential::largest() const {
  return (std::pow(radius_, 3) * slice_norm(tensor_) + 3.0 * radius_ * traces_.norm()) / 6.0;
}

double CubicPotential::expectation(const Matrix& cumulants, const Vector& mean,
                                   const Matrix& covariance) const {
  // E z_a z_b z_c = k_abc + m_a C_bc + m_b C_ac + m_c C_ab + m_a m_b m_c, and t is symmetric.
  const Index r = mean.size();
  const Matrix excess = covariance - Matrix::Identity(r, r) + mean * mean.transpose() / 3.0;
  double sum = tensor_.cwiseProduct(cumulants).sum();
  for (Index c = 0; c < r; ++c) {
    sum += 3.0 * mean(c) * tensor_.middleCols(r * c, r).cwiseProduct(excess).sum();
  }
  return sum / 6.0;
}

}  // namespace mixcert
