// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the closed forms (M.5), (M.7) are made of: the largest eigenvalue and diagonal dominance after a
// diagonal scaling, and their derivatives (Z.1) to (Z.3). A and its derivatives are symmetric.
#pragma once

#include "sensitivity/metric_forms.h"

namespace mixcert {

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
