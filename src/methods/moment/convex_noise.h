// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Roots of noise that is convex, docs/theory/convex_noise.md (Y.27): where the sizes of the activations are
// convex functions of normal variables, so is S^{1/2}, S = beta + sum_j V_j a_j^2, and its lower tail is
// light.
#pragma once

#include "mixcert/activation/activation.h"

namespace mixcert {

/// Are the sizes |f| of all activations convex?
bool has_convex_sizes(const ActivationMap& activation, Index neurons);

/// No less than E (r - 1)^2, r = (S/E S)^{1/2}, where S^{1/2} is convex and `variance` no less than that of
/// S/E S.
double convex_root_deviation(double variance);

}  // namespace mixcert
