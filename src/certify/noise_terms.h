// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the cost of a layer's noise is made of, (J.3) to (J.5), matrices as rows of length D^2.
#pragma once

#include "certify/cross_moments.h"

namespace mixcert {

struct NeuronTerms {
  Matrix second;        ///< E a_j a_j'
  Vector second_error;  ///< Frobenius
  Matrix spread;        ///< H_j: E tr(Q P Q) <= tr(P H_j) for Q = a_j a_j' - E a_j a_j' and every P >= 0
  Vector spread_norm;   ///< Frobenius norm of H_j
};

NeuronTerms neuron_terms(const CrossMoments& moments);

/// Relative to the largest; smaller spreads count as this in the scaling of (J.5).
inline constexpr double kLeastSpread = 1e-6;

/// U_lj = V_lj sum_i rho_ij V_li s_i / s_j (J.5); an empty rho: independent neurons.
Matrix dependence_weights(const Matrix& variance, const Matrix& rho, const Vector& spread_norm);

}  // namespace mixcert
