// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How large an analytic activation and its derivatives are in a strip |Im z| <= w around the real line,
// (V.5).
#pragma once

#include "mixcert/activation/activation.h"

namespace mixcert {

/// Bounds over |Im z| <= half_width.
struct StripBound {
  double half_width;
  double value;      ///< sup |f|, infinite if f is unbounded
  double slope;      ///< sup |f'|
  double curvature;  ///< sup |f''|
};

/// tanh, sigmoid, erf, gelu, silu or softplus; half_width below pi/2 for tanh, below pi for sigmoid, silu,
/// softplus.
StripBound strip_bound(ActivationFunction function, double half_width);

/// A half-width that makes the trapezoidal rule need few nodes: wide strips allow long steps, but the bounds
/// grow.
double favourable_half_width(ActivationFunction function, double deviation);

}  // namespace mixcert
