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

// What the closed forms (M.5), (M.7) are made of: the largest eigenvalue and diagonal dominance after a
// diagonal scaling, and their derivatives (Z.1) to (Z.3). A and its derivatives are symmetric.

double largest_eigenvalue(const Matrix& a);

/// Square roots, with ones in place of zeros (of diag(A): its rows are zero then).
Vector positive_roots(const Vector& x);

/// 1 / sqrt(errors): what makes sum_i g_i errors_i small.
Vector inverse_roots(const Vector& errors);

/// lambda_max(D A D) D^{-2}, D = diag(roots)^{-1}.
Vector spectral_after_scaling(const Matrix& a, const Vector& roots);

/// The same with roots of diag(A); zero where that is.
Vector scaled_spectral(const Matrix& a);

/// Diagonal dominance of diag(g) - A after scaling by diag(roots).
Vector gershgorin(const Matrix& a, const Vector& roots);

/// Derivatives in A and in the roots.
struct ScaledGradient {
  Matrix a;
  Vector roots;
};
ScaledGradient spectral_after_scaling_gradient(const Matrix& a, const Vector& roots, const Vector& g_bar);
ScaledGradient gershgorin_gradient(const Matrix& a, const Vector& roots, const Vector& g_bar);

Matrix spectral_gradient(const Matrix& a, const Vector& g_bar);
Matrix scaled_spectral_gradient(const Matrix& a, const Vector& g_bar);
Matrix scaled_gershgorin_gradient(const Matrix& a, const Vector& g_bar);
MetricGradient weighted_spectral_gradient(const Matrix& a, const Vector& errors, const Vector& g_bar);
MetricGradient weighted_gershgorin_gradient(const Matrix& a, const Vector& errors, const Vector& g_bar);

}  // namespace mixcert
