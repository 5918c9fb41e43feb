// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of a ramp (x - t)_+ of a standard normal x, which piecewise linear functions are made of, (V.2).
#pragma once

#include <cmath>

#include "activation/enclosed_arithmetic.h"
#include "core/normal.h"

namespace mixcert {

// phi(39) and every moment of the ramp beyond 39 are below the smallest positive double.
inline constexpr double kRampVanishes = 39.0;

/// Density and tail at t, and E h, E h^2, E h^4 of the ramp h = (x - t)_+, x ~ N(0,1).
struct RampMoments {
  Enclosed density, tail, first, second, fourth;
};

/// t >= 0 is known to two units of roundoff of itself.
inline RampMoments ramp_moments(const Enclosed& t) {
  const double threshold = t.value;
  if (!(threshold < kRampVanishes)) {
    const Enclosed nothing{0.0, kUnderflowSlack};
    return {nothing, nothing, nothing, nothing, nothing};
  }
  // Relative error of exp(-t^2/2) and erfc(t/sqrt 2) at a rounded t: (V.2).
  const double relative = 8 * kUnitRoundoff * (threshold * threshold + 4.0);
  const double p = normal_density(threshold);
  const double q = normal_tail(threshold);
  const Enclosed density{p, safe_error(relative * p)};
  const Enclosed tail{q, safe_error(relative * q)};
  const Enclosed t2 = square(t);
  const Enclosed first = density - t * tail;
  const Enclosed second = (exactly(1.0) + t2) * tail - t * density;
  const Enclosed fourth =
      (exactly(3.0) + t2 * (exactly(6.0) + t2)) * tail - t * (exactly(5.0) + t2) * density;
  return {density, tail, nonnegative(first), nonnegative(second), nonnegative(fourth)};
}

}  // namespace mixcert
