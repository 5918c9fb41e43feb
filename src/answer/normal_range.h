// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Enclosures of the normal tail. erfc is accurate to 16 u (R.1); its argument x/sqrt(2) is off by 2 u
// relative, which changes erfc by at most 2 (1 + x^2) u of itself for x > 0, since x erfc'(x)/erfc(x) >= -(1
// + 2 x^2), and by less than u for x < 0. Beyond 38 the tail is below 1e-315.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

/// Where a normal number is never found, up to kNormalVoid.
inline constexpr double kNormalReach = 38.0;
inline constexpr double kNormalVoid = 1e-300;

/// No less than P(Z > x).
inline double normal_tail_upper(double x) {
  if (x >= kNormalReach) return kNormalVoid;
  const double square = x > 0.0 ? x * x : 0.0;
  const double error = 2.0 * kElementaryFunctionError * (1.0 + square);
  return std::min(1.0, next_up(normal_tail(x) * (1.0 + error)));
}

/// No more than P(Z > x).
inline double normal_tail_lower(double x) {
  if (x >= kNormalReach) return 0.0;
  const double square = x > 0.0 ? x * x : 0.0;
  const double error = 2.0 * kElementaryFunctionError * (1.0 + square);
  return positive_part(next_down(normal_tail(x) * (1.0 - error)));
}

}  // namespace mixcert
