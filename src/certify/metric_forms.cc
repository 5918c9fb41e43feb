// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Closed forms, docs/theory/metrics.md (M.5), and a barrier method for (M.7). Nothing here is trusted: every
// result is verified by a Cholesky factorisation (M.4) and multiplied by what that asks for.
#include "certify/metric_forms.h"

#include <Eigen/Cholesky>
#include <cmath>

#include "mixcert/mixture/eigenpairs.h"

namespace mixcert {
namespace {

double largest_eigenvalue(const Matrix& a) { return leading_eigenpairs(Covariance::dense(a), 1).values(0); }

/// Square roots, with ones in place of zeros (of diag(A): its rows are zero then).
Vector positive_roots(const Vector& x) {
  return x.unaryExpr([](double v) { return v > 0.0 ? std::sqrt(v) : 1.0; });
}

/// lambda_max(D A D) D^{-2}, D = diag(roots)^{-1}.
Vector spectral_after_scaling(const Matrix& a, const Vector& roots) {
  const Vector inverse = roots.cwiseInverse();
  return largest_eigenvalue(inverse.asDiagonal() * a * inverse.asDiagonal()) * roots.cwiseAbs2();
}

Vector scaled_spectral(const Matrix& a) {
  const Vector g = spectral_after_scaling(a, positive_roots(a.diagonal()));
  return (a.diagonal().array() > 0.0).select(g, 0.0);
}

/// Diagonal dominance of diag(g) - A after scaling by diag(roots).
Vector gershgorin(const Matrix& a, const Vector& roots) {
  return (a.cwiseAbs() * roots).cwiseQuotient(roots);
}

/// 1 / sqrt(errors): what makes sum_i g_i errors_i small.
Vector inverse_roots(const Vector& errors) {
  const double floor = 1e-6 * errors.maxCoeff();
  if (!(floor > 0.0)) return Vector::Ones(errors.size());
  return errors.array().max(floor).sqrt().inverse();
}

// The barrier weight falls by this factor a step; the last one is this fraction of the objective per
// coordinate.
constexpr double kBarrierFactor = 0.3;
constexpr double kBarrierEnd = 1e-3;

/// One damped Newton step of  errors'g - mu log det(diag(g) - A): gradient errors - mu diag X, Hessian mu X o
/// X, X = (diag(g) - A)^{-1}. False when nothing could be improved.
bool newton_step(const Matrix& a, const Vector& errors, double mu, Vector& g) {
  const Index n = g.size();
  Matrix slack = -a;
  slack.diagonal() += g;
  const Matrix x = slack.llt().solve(Matrix::Identity(n, n));
  const Vector gradient = errors - mu * x.diagonal();
  const Vector step = (mu * x.cwiseAbs2()).ldlt().solve(-gradient);
  if (!step.allFinite()) return false;
  const double decrement = std::sqrt(std::max(0.0, -gradient.dot(step) / mu));
  double length = decrement > 0.25 ? 1.0 / (1.0 + decrement) : 1.0;
  for (int halving = 0; halving < 30; ++halving, length *= 0.5) {
    const Vector candidate = g + length * step;
    Matrix h = -a;
    h.diagonal() += candidate;
    if (candidate.minCoeff() <= 0.0 || h.llt().info() != Eigen::Success) continue;
    g = candidate;
    return decrement > 1e-4;
  }
  return false;
}

Vector solve_semidefinite(const Matrix& a, const Vector& errors) {
  const double scale = a.diagonal().mean();
  if (!(scale > 0.0)) return a.diagonal();
  const Matrix scaled = a / scale;
  const Vector weights = (errors / errors.maxCoeff()).array().max(1e-6);
  Vector g = 1.01 * gershgorin(scaled, inverse_roots(weights)).array() + 1e-9;
  for (double mu = weights.dot(g) / static_cast<double>(g.size());; mu *= kBarrierFactor) {
    for (int step = 0; step < 20 && newton_step(scaled, weights, mu, g); ++step) {
    }
    if (mu * static_cast<double>(g.size()) < kBarrierEnd * weights.dot(g)) break;
  }
  return scale * g;
}

}  // namespace

Vector spectral_form(const Matrix& a) { return Vector::Constant(a.rows(), largest_eigenvalue(a)); }

const std::vector<MetricForm>& closed_forms() {
  static const std::vector<MetricForm> forms = {
      {"expected", [](const Matrix& a, const Vector&) { return spectral_form(a); }},
      {"scaled-spectral", [](const Matrix& a, const Vector&) { return scaled_spectral(a); }},
      {"gershgorin", [](const Matrix& a, const Vector&) { return gershgorin(a, Vector::Ones(a.rows())); }},
      {"scaled-gershgorin",
       [](const Matrix& a, const Vector&) { return gershgorin(a, positive_roots(a.diagonal())); }},
      {"weighted-spectral",
       [](const Matrix& a, const Vector& errors) {
         return spectral_after_scaling(a, inverse_roots(errors));
       }},
      {"weighted-gershgorin", [](const Matrix& a, const Vector& errors) {
         return gershgorin(a, inverse_roots(errors).cwiseInverse());
       }}};
  return forms;
}

MetricForm semidefinite_form() { return {"sdp", solve_semidefinite}; }

}  // namespace mixcert
