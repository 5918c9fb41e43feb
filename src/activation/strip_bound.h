// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How large an analytic activation and its derivatives are in a strip |Im z| <= w around the real line,
// (V.5). The constants are in the functions' records; every bound is enlarged by 1e-9 of itself, far more
// than its rounding.
#pragma once

#include <algorithm>

#include "activation/activation_traits.h"

namespace mixcert {

/// half_width below the distance of the nearest pole: pi/2 for tanh, pi for sigmoid, silu, softplus.
inline StripBound strip_bound(const Analytic& function, double half_width) {
  constexpr double kRoundingFactor = 1.0 + 1e-9;
  const StripBound b = function.strip(half_width);
  return {half_width, b.value * kRoundingFactor, b.slope * kRoundingFactor, b.curvature * kRoundingFactor};
}

/// A half-width that makes the trapezoidal rule need few nodes. Beyond six standard deviations the density's
/// own growth e^{a^2/2} outweighs the longer step.
inline double favourable_half_width(const Analytic& function, double deviation) {
  return std::min(6.0 * deviation, function.widest_strip(deviation));
}

/// Where panels lie (V.3).
inline ActiveZone panel_zone(const Analytic& function) {
  const double width = 2.0 * function.panel_half_width / (0.5 * (kEllipse - 1.0 / kEllipse));
  return {-function.zone, function.zone, width};
}

}  // namespace mixcert
