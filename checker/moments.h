// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of an activation of a Gaussian, docs/theory/moments.md (V.1), (V.2), (V.4).
#pragma once

#include "activation.h"

namespace mixcert_check {

/// Of a = f(m + s x), x ~ N(0,1), with normalised Hermite coefficients c_p.
struct Moments {
  Ball mean;             ///< c_0
  Ball linear;           ///< c_1
  Ball quadratic;        ///< c_2
  Ball variance;         ///< Var a
  Ball second;           ///< E a^2
  Ball square_slope;     ///< E[a^2 x]
  Ball square_variance;  ///< Var a^2
};

/// s >= 0.
Moments moments_of(const Activation& f, const Ball& m, const Ball& s);

}  // namespace mixcert_check
