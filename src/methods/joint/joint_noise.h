// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The noise of joint laws, docs/theory/joint-moments.md (J.3) - (J.5), (J.8).
#pragma once

#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/core/types.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

// The noise of a layer with independent weights at several inputs jointly, (J.3) to (J.5): the D x D
// covariance S_l(a) = beta_l 11' + sum_j V_lj a_j a_j' of an output depends on the activations and is
// replaced by a constant T_l. Treating inputs one by one would be wrong: identical inputs would cost nothing.

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

// A layer's noise over several inputs, compared with a constant one after a truncation (J.8): inverting E S
// counts every direction as much as the largest, and over many inputs most directions carry next to nothing.

/// One output's noise over D inputs: E S and how S varies (J.5).
struct NoiseSpread {
  Matrix mean;          ///< E S_l as computed
  double mean_error;    ///< Frobenius
  Matrix spread;        ///< sum_j U_lj H_j
  double spread_error;  ///< Frobenius
};

struct TruncatedBlock {
  Matrix block;  ///< T_l, positive definite
  double cost;   ///< infinite where nothing was proven
};

/// The number of inverted directions with the least cost. The others keep their variance in T_l.
TruncatedBlock truncated_block(const NoiseSpread& noise);

// An upper bound, in the Loewner order, of the inverse of a positive definite matrix (J.7).

/// T^{-1} <= factor * root' root.
struct ProvenInverse {
  bool proven = false;  ///< else nothing is known, not even that T is semidefinite
  Matrix root;
  double factor = 1.0;
};

/// `least` is a guess of the smallest eigenvalue, from below; positive.
ProvenInverse proven_inverse(const Matrix& t, double least);

}  // namespace mixcert
