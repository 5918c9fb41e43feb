// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Textbook formulas of all activations, for every type of numbers that oracles use, their derivatives and
// their kinks. Written from docs/theory/activations.md and not from the library's records.
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"

namespace mixcert::testing {

/// f(x), with all digits of `Real` far out too: double, long double or Precise (high_precision.h).
template <class Real>
Real naive_activation(const Activation& f, const Real& x);

/// Right derivative; ends of the line are limits.
double naive_derivative(const Activation& f, double x);

/// A kink of a function made of pieces, and the slopes beside it.
struct SlopeJump {
  double at, left, right;
};

std::vector<SlopeJump> slope_jumps(const Activation& f);

}  // namespace mixcert::testing
