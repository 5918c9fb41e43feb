// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The noise of a layer with independent weights at several inputs jointly, (J.3) to (J.5): the D x D
// covariance S_l(a) = beta_l 11' + sum_j V_lj a_j a_j' of an output depends on the activations and is
// replaced by a constant T_l. Treating inputs one by one would be wrong: identical inputs would cost nothing.
#pragma once

#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// Chooses T_l and bounds what it costs. `law` is that of the pre-activations behind `moments`.
JointNoise joint_noise(const DenseLayer& next, const Gaussian& law, const CrossMoments& moments,
                       RidgeRule rule = RidgeRule::LeastBound);

// What the cost of a layer's noise is made of, (J.3) to (J.5), matrices as rows of length D^2.

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
