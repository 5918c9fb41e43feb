// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Closed forms, docs/theory/metrics.md (M.5), and a barrier method for (M.7). Nothing here is trusted: every
// result is verified by a Cholesky factorisation (M.4) and multiplied by what that asks for.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

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
  const double decrement = std::sqrt(positive_part(-gradient.dot(step) / mu));
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

MetricGradient no_gradient(const Matrix&, const Vector&, const Vector&) {
  throw InvalidArgument("sensitivity: the semidefinite program has no derivatives; expected closed forms");
}

/// A form that ignores the errors, from its value and its derivatives.
template <typename Value, typename Derivatives>
MetricForm of_matrix(const char* name, Value value, Derivatives derivatives) {
  return {name, [value](const Matrix& a, const Vector&) { return value(a); },
          [derivatives](const Matrix& a, const Vector&, const Vector& g_bar) -> MetricGradient {
            return {derivatives(a, g_bar), {}};
          }};
}

}  // namespace

Vector raised_form(const MetricForm& form, const Matrix& a, const Vector& errors) {
  const Vector g = form.form(a, errors);
  // Half: what only rounds stays as it is.
  return (g.array() < 0.5 * a.diagonal().array()).select(a.diagonal(), g);
}

Vector spectral_form(const Matrix& a) { return Vector::Constant(a.rows(), largest_eigenvalue(a)); }

const std::vector<MetricForm>& closed_forms() {
  static const std::vector<MetricForm> forms = {
      of_matrix("expected", spectral_form, spectral_gradient),
      of_matrix("scaled-spectral", scaled_spectral, scaled_spectral_gradient),
      of_matrix(
          "gershgorin", [](const Matrix& a) { return gershgorin(a, Vector::Ones(a.rows())); },
          [](const Matrix& a, const Vector& g_bar) {
            return gershgorin_gradient(a, Vector::Ones(a.rows()), g_bar).a;
          }),
      of_matrix(
          "scaled-gershgorin", [](const Matrix& a) { return gershgorin(a, positive_roots(a.diagonal())); },
          scaled_gershgorin_gradient),
      {"weighted-spectral",
       [](const Matrix& a, const Vector& errors) { return spectral_after_scaling(a, inverse_roots(errors)); },
       weighted_spectral_gradient},
      {"weighted-gershgorin",
       [](const Matrix& a, const Vector& errors) {
         return gershgorin(a, inverse_roots(errors).cwiseInverse());
       },
       weighted_gershgorin_gradient}};
  return forms;
}

MetricForm semidefinite_form() { return {"sdp", solve_semidefinite, no_gradient}; }

}  // namespace mixcert
