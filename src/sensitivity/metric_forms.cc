// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Closed forms, docs/theory/metrics.md (M.5), (M.7). Nothing here is trusted: every result is verified by a
// Cholesky factorisation (M.4) and multiplied by what that asks for.
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

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

}  // namespace mixcert
