// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of the Hermite form of (H.1),
//     F = sum_ij B_ij r_ij (p_i p_j + q_i q_j r_ij) + |B_ij| |r_ij|^3 t_i t_j,
// and from correlations r back to a covariance (Z.7).
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

struct HermiteFormGradient {
  double value = 0.0;  ///< F itself
  Matrix gram;         ///< in B; symmetric
  Matrix correlation;  ///< in r; symmetric, diagonal zero; empty when coordinates are independent
  Vector linear;       ///< in p
  Vector quadratic;    ///< in q
  Vector rest;         ///< in t
};

/// An empty `correlation` stands for the identity.
HermiteFormGradient hermite_form_gradient(const Matrix& gram, const Matrix& correlation, const Vector& linear,
                                          const Vector& quadratic, const Vector& rest);

/// r_ij = C_ij / (s_i s_j), ones on the diagonal: adds derivatives in C_ij, i != j, to `covariance` and those
/// in the deviations s, C_ij fixed, to `deviations`. Rows of s_i = 0 and correlations of one are constants.
void add_correlation_gradient(const Matrix& correlation, const Matrix& correlation_bar, const Vector& s,
                              Matrix& covariance, Vector& deviations);

}  // namespace mixcert
