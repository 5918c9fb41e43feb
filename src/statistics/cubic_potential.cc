// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values, gradients and infima of the cubic potential, many points at once.
#include "statistics/cubic_potential.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

namespace mixcert {
namespace {

/// Of the convexity of |y|^2/2, what psi may use up.
constexpr double kMostCurvature = 0.8;
constexpr int kMostSteps = 60;

/// No less than sup over |z| <= 1 of the norm of sum_c z_c G_c: its value at v is sum_c z_c v'G_c v, at most
/// (sum_c |G_c v|^2)^{1/2}.
double slice_norm(const Matrix& slices) {
  const Matrix gram = slices * slices.transpose();
  return std::sqrt(
      Eigen::SelfAdjointEigenSolver<Matrix>(gram, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff());
}

}  // namespace

CubicPotential::CubicPotential(Vector variances, const Matrix& cumulants, double radius)
    : deviations_(variances.cwiseSqrt()), tensor_(cumulants), radius_(radius) {
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
    residual = y - x + gradients(scaled);
  }
  // By strong convexity on the ball, |x - y|^2/2 + psi is at least its value at y less
  // |residual|^2/(2 convexity) everywhere in it.
  Vector bounds = (x - y).colwise().squaredNorm().transpose() + 2.0 * values(scaled) -
                  residual.colwise().squaredNorm().transpose() / convexity_;
  for (Index i = 0; i < bounds.size(); ++i) {
    const double farthest = std::max(scaled.col(i).norm(), z.col(i).norm());
    if (!(farthest <= radius_)) bounds(i) = std::numeric_limits<double>::quiet_NaN();
  }
  return bounds;
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
