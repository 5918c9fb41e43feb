// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Trapezoidal rules for Hermite coefficients of analytic activations (J.2), with the polynomials at the
// nodes.
#pragma once

#include "activation/activation_traits.h"
#include "activation/hermite_coefficients.h"
#include "activation/quadrature_rules.h"

namespace mixcert {

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
