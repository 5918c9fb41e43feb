// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Boost's error function and the closed forms.
#include "support/high_precision.h"

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>

namespace mixcert::testing {

Precise precise_density(const Precise& x) {
  return exp(-x * x / 2) / sqrt(2 * boost::math::constants::pi<Precise>());
}

Precise precise_erf(const Precise& x) { return erf(x); }

Precise precise_tail(const Precise& x) { return erfc(x / sqrt(Precise(2))) / 2; }

Precise precise_mass(const Precise& lower, const Precise& upper) {
  const auto tail = [](const Precise& x) {
    if (isinf(x)) return Precise(x > 0 ? 0 : 1);
    return precise_tail(x);
  };
  // Differences of small tails: the upper half line is used when the interval is there.
  return lower > 0 ? tail(lower) - tail(upper) : tail(-upper) - tail(-lower);
}

namespace {

/// factor * phi(x), zero at infinity.
Precise times_precise_density(const Precise& factor, const Precise& x) {
  if (isinf(x)) return 0;
  return factor * precise_density(x);
}

}  // namespace

Precise precise_mean_about(const Precise& center, const Precise& lower, const Precise& upper) {
  return times_precise_density(1, lower) - times_precise_density(1, upper) -
         center * precise_mass(lower, upper);
}

Precise precise_square_about(const Precise& center, const Precise& lower, const Precise& upper) {
  const Precise twice = 2 * center;
  return (1 + center * center) * precise_mass(lower, upper) +
         (isinf(lower) ? Precise(0) : times_precise_density(lower - twice, lower)) -
         (isinf(upper) ? Precise(0) : times_precise_density(upper - twice, upper));
}

}  // namespace mixcert::testing
