// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Vectors g with diag(g) >= A, up to rounding: closed forms (M.5) and the small semidefinite program (M.7).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// Derivatives of a number in the arguments of a form.
struct MetricGradient {
  Matrix a;       ///< symmetric
  Vector errors;  ///< empty where the form ignores them
};

/// `errors`: mean-square errors that the metric will multiply, as far as they are known; positive. A form may
/// ignore them. `pull_back` takes the derivatives of a number in g = form(a, errors) to those in the
/// arguments (Z.1) to (Z.3).
struct MetricForm {
  std::string name;
  std::function<Vector(const Matrix& a, const Vector& errors)> form;
  std::function<MetricGradient(const Matrix& a, const Vector& errors, const Vector& g_bar)> pull_back;
};

/// lambda_max(A) for all coordinates.
Vector spectral_form(const Matrix& a);

/// The closed forms, `expected` (spectral) first.
const std::vector<MetricForm>& closed_forms();

/// min sum_i g_i errors_i subject to diag(g) >= A. It has no derivatives: `pull_back` throws InvalidArgument.
MetricForm semidefinite_form();

}  // namespace mixcert
