// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The standard normal law in fifty decimal digits, by the closed forms: with so many digits
// their cancellation does not matter. Functions, because the templates behind them take seconds to compile.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace mixcert::testing {

using Precise = boost::multiprecision::cpp_bin_float_50;

Precise precise_density(const Precise& x);

Precise precise_erf(const Precise& x);

/// P(Z > x).
Precise precise_tail(const Precise& x);

/// P(lower < Z <= upper) for ends that may be infinite doubles.
Precise precise_mass(const Precise& lower, const Precise& upper);

/// E[Z - center; lower < Z <= upper].
Precise precise_mean_about(const Precise& center, const Precise& lower, const Precise& upper);

/// E[(Z - center)^2; lower < Z <= upper].
Precise precise_square_about(const Precise& center, const Precise& lower, const Precise& upper);

}  // namespace mixcert::testing
