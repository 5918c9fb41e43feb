// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Closed forms and their derivatives, docs/theory/metrics.md (M.5), (M.7) and docs/theory/gradients.md (Z.1)
// to (Z.3).
#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

// Errors below this fraction of the largest are raised to it.
constexpr double kErrorFloor = 1e-6;
// Eigenvalues that differ by less, relative to the largest, count as equal (Z.1).
constexpr double kEqual = 1e-10;

/// Networks with mean weights of zero have no other A.
bool is_diagonal(const Matrix& a) { return a.isDiagonal(0.0); }

/// Projection on the eigenspace of the largest eigenvalue, divided by its dimension (Z.1).
Matrix leading_projection(const Matrix& a) {
  const Index n = a.rows();
  if (is_diagonal(a)) {
    const Vector diagonal = a.diagonal();
    const double least = (1.0 - kEqual) * diagonal.maxCoeff();
    const Vector chosen = (diagonal.array() >= least).cast<double>();
    return Matrix((chosen / chosen.sum()).asDiagonal());
  }
  const SymmetricEigen eigen = symmetric_eigen(a);
  Index equal = 1;
  while (equal < n && eigen.values(n - 1 - equal) >= (1.0 - kEqual) * eigen.values(n - 1)) ++equal;
  const auto vectors = eigen.vectors.rightCols(equal);
  return vectors * vectors.transpose() / static_cast<double>(equal);
}

/// Derivatives in x from those in positive_roots(x).
Vector positive_roots_gradient(const Vector& x, const Vector& roots_bar) {
  return x.binaryExpr(roots_bar,
                      [](double v, double bar) { return v > 0.0 ? 0.5 * bar / std::sqrt(v) : 0.0; });
}

/// Derivatives in the errors from those in the raised ones, max(errors, floor).
Vector raised_gradient(const Vector& errors, const Vector& raised_bar) {
  Index largest = 0;
  const double floor = kErrorFloor * errors.maxCoeff(&largest);
  if (!(floor > 0.0)) return Vector::Zero(errors.size());
  const auto is_raised = errors.array() < floor;
  Vector gradient = is_raised.select(0.0, raised_bar);
  gradient(largest) += kErrorFloor * is_raised.select(raised_bar, 0.0).sum();
  return gradient;
}

}  // namespace

double largest_eigenvalue(const Matrix& a) {
  if (is_diagonal(a)) return positive_part(a.diagonal().maxCoeff<Eigen::PropagateNaN>());
  return leading_eigenpairs(Covariance::dense(a), 1).values(0);
}

Vector positive_roots(const Vector& x) {
  return x.unaryExpr([](double v) { return v > 0.0 ? std::sqrt(v) : 1.0; });
}

Vector inverse_roots(const Vector& errors) {
  const double floor = kErrorFloor * errors.maxCoeff();
  if (!(floor > 0.0)) return Vector::Ones(errors.size());
  return errors.array().max(floor).sqrt().inverse();
}

Vector spectral_after_scaling(const Matrix& a, const Vector& roots) {
  const Vector inverse = roots.cwiseInverse();
  return largest_eigenvalue(inverse.asDiagonal() * a * inverse.asDiagonal()) * roots.cwiseAbs2();
}

Vector scaled_spectral(const Matrix& a) {
  const Vector g = spectral_after_scaling(a, positive_roots(a.diagonal()));
  return (a.diagonal().array() > 0.0).select(g, 0.0);
}

Vector gershgorin(const Matrix& a, const Vector& roots) {
  return (a.cwiseAbs() * roots).cwiseQuotient(roots);
}

Matrix spectral_gradient(const Matrix& a, const Vector& g_bar) { return g_bar.sum() * leading_projection(a); }

ScaledGradient spectral_after_scaling_gradient(const Matrix& a, const Vector& roots, const Vector& g_bar) {
  const Vector inverse = roots.cwiseInverse();
  const Matrix scaled = inverse.asDiagonal() * a * inverse.asDiagonal();
  const Matrix projection = leading_projection(scaled);
  const double value = largest_eigenvalue(scaled);
  const double value_bar = g_bar.dot(roots.cwiseAbs2());
  // The eigenvalue falls with the roots: d lambda / d roots_i = -2 lambda P_ii / roots_i.
  const Vector roots_bar =
      2.0 * value * (g_bar.cwiseProduct(roots) - value_bar * projection.diagonal().cwiseProduct(inverse));
  return {value_bar * (inverse.asDiagonal() * projection * inverse.asDiagonal()), roots_bar};
}

Matrix scaled_spectral_gradient(const Matrix& a, const Vector& g_bar) {
  const Vector diagonal = a.diagonal();
  const Vector used = (diagonal.array() > 0.0).select(g_bar, 0.0);
  ScaledGradient gradient = spectral_after_scaling_gradient(a, positive_roots(diagonal), used);
  gradient.a.diagonal() += positive_roots_gradient(diagonal, gradient.roots);
  return gradient.a;
}

ScaledGradient gershgorin_gradient(const Matrix& a, const Vector& roots, const Vector& g_bar) {
  const Vector weights = g_bar.cwiseQuotient(roots);
  const Matrix outer = 0.5 * (weights * roots.transpose() + roots * weights.transpose());
  const Vector g = gershgorin(a, roots);
  return {a.cwiseSign().cwiseProduct(outer), a.cwiseAbs() * weights - g.cwiseProduct(weights)};
}

Matrix scaled_gershgorin_gradient(const Matrix& a, const Vector& g_bar) {
  const Vector diagonal = a.diagonal();
  ScaledGradient gradient = gershgorin_gradient(a, positive_roots(diagonal), g_bar);
  gradient.a.diagonal() += positive_roots_gradient(diagonal, gradient.roots);
  return gradient.a;
}

MetricGradient weighted_spectral_gradient(const Matrix& a, const Vector& errors, const Vector& g_bar) {
  const Vector roots = inverse_roots(errors);
  const ScaledGradient gradient = spectral_after_scaling_gradient(a, roots, g_bar);
  // roots = e^{-1/2}.
  const Vector raised_bar = -0.5 * gradient.roots.array() * roots.array().cube();
  return {gradient.a, raised_gradient(errors, raised_bar)};
}

MetricGradient weighted_gershgorin_gradient(const Matrix& a, const Vector& errors, const Vector& g_bar) {
  const Vector inverse = inverse_roots(errors);
  const ScaledGradient gradient = gershgorin_gradient(a, inverse.cwiseInverse(), g_bar);
  // roots = e^{1/2}.
  return {gradient.a, raised_gradient(errors, 0.5 * gradient.roots.cwiseProduct(inverse))};
}

}  // namespace mixcert
