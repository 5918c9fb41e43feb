// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Hermite coefficients of an activation of a Gaussian up to a fixed order, with proven errors (J.2): what the
// correlation of one neuron at two inputs is made of. Closed form for the piecewise linear functions, the
// trapezoidal rule for the analytic ones; elu and extreme deviations have the first three coefficients only.
#pragma once

#include "activation/activation_traits.h"
#include "activation/gaussian_moments.h"
#include "activation/quadrature_rules.h"

namespace mixcert {

/// The highest order computed.
inline constexpr Index kHermiteOrder = 24;

/// a = f(m + s x), c_p = E[a He_p(x)] / sqrt(p!).
struct HermiteExpansion {
  Index order = 0;            ///< c_p is given for p = 0 .. order; 2 or kHermiteOrder
  Vector value;               ///< kHermiteOrder + 1 entries, zero beyond `order`
  double error = 0.0;         ///< no less than the Euclidean norm of the errors of c_1 .. c_order
  Enclosed mean;              ///< c_0
  GaussianMoments moments;    ///< c_0, c_1, c_2 and more
  Enclosed variance;          ///< of a
  double slope_energy = 0.0;  ///< no less than s^2 E f'(z)^2 = sum_p p c_p^2
  bool kinked =
      false;  ///< piecewise linear: sum_p sqrt((p+1)(p+2)) c_{p+2} c_p = -sqrt(2) c_2 c_0 over p >= 1
};

HermiteExpansion hermite_expansion(const Activation& activation, double mean, double deviation);

// Trapezoidal rules for Hermite coefficients of analytic activations (J.2), with the polynomials at the
// nodes.

/// Orders tabulated: one more than coefficients have, for derivatives.
inline constexpr Index kTabulatedOrders = kHermiteOrder + 2;

/// One trapezoidal rule: weights times polynomials, and the norms of the polynomials with positive signs.
struct HermiteRule {
  double step = 0.0;
  NodeArray nodes;
  NodeArray weights;
  Matrix weighted;  ///< entry (k, p): w_k h_p(x_k)
  Vector size;      ///< entry p: (sum_k w_k h_p(x_k)^2)^{1/2}
  Vector majorant;  ///< entry p: (sum_k w_k hbar_p(x_k)^2)^{1/2}
};

/// The coarsest rule that is fine enough for the function at this deviation; null when it would need too many
/// nodes.
const HermiteRule* hermite_rule(const Analytic& function, double deviation);

/// What h_p may be off by, over its majorant: `steps` steps of the recurrence in the precision it runs in.
double recurrence_error(Index steps);

}  // namespace mixcert
