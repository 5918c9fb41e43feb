// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The standard normal law in fifty decimal digits, by the closed forms: with so many digits
// their cancellation does not matter.
#pragma once

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

namespace mixcert::testing {

using Precise = boost::multiprecision::cpp_bin_float_50;

inline Precise precise_density(const Precise& x) {
  return exp(-x * x / 2) / sqrt(2 * boost::math::constants::pi<Precise>());
}

/// P(Z > x).
inline Precise precise_tail(const Precise& x) { return erfc(x / sqrt(Precise(2))) / 2; }

/// P(lower < Z <= upper) for ends that may be infinite doubles.
inline Precise precise_mass(const Precise& lower, const Precise& upper) {
  const auto tail = [](const Precise& x) {
    if (isinf(x)) return Precise(x > 0 ? 0 : 1);
    return precise_tail(x);
  };
  // Differences of small tails: the upper half line is used when the interval is there.
  return lower > 0 ? tail(lower) - tail(upper) : tail(-upper) - tail(-lower);
}

/// factor * phi(x), zero at infinity.
inline Precise times_precise_density(const Precise& factor, const Precise& x) {
  if (isinf(x)) return 0;
  return factor * precise_density(x);
}

/// E[Z - center; lower < Z <= upper].
inline Precise precise_mean_about(const Precise& center, const Precise& lower, const Precise& upper) {
  return times_precise_density(1, lower) - times_precise_density(1, upper) -
         center * precise_mass(lower, upper);
}

/// E[(Z - center)^2; lower < Z <= upper].
inline Precise precise_square_about(const Precise& center, const Precise& lower, const Precise& upper) {
  const Precise twice = 2 * center;
  return (1 + center * center) * precise_mass(lower, upper) +
         (isinf(lower) ? Precise(0) : times_precise_density(lower - twice, lower)) -
         (isinf(upper) ? Precise(0) : times_precise_density(upper - twice, upper));
}

}  // namespace mixcert::testing
