// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Vectors g with diag(g) >= A, up to rounding: closed forms (M.5) and the small semidefinite program (M.7).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// `errors`: mean-square errors that the metric will multiply, as far as they are known; positive. A form may
/// ignore them.
struct MetricForm {
  std::string name;
  std::function<Vector(const Matrix& a, const Vector& errors)> form;
};

/// lambda_max(A) for all coordinates.
Vector spectral_form(const Matrix& a);

/// The closed forms, `expected` (spectral) first.
const std::vector<MetricForm>& closed_forms();

/// min sum_i g_i errors_i subject to diag(g) >= A.
MetricForm semidefinite_form();

}  // namespace mixcert
