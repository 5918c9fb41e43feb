// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums and products of numbers with error bounds, (V.6): the error of the result is the first-order and the
// second-order part of the operands' errors plus the rounding of the operation. Signs cancel as they do in
// the values, so formulas need no separate count of their roundings.
#pragma once

#include <algorithm>
#include <limits>

#include "activation/gaussian_moments.h"

namespace mixcert {

/// More than what underflow takes from a handful of operations.
inline constexpr double kUnderflowSlack = std::numeric_limits<double>::min();

/// An error bound computed with at most eight roundings, made safe.
inline double safe_error(double error) { return error * (1.0 + 16 * kUnitRoundoff) + kUnderflowSlack; }

inline Enclosed exactly(double value) { return {value, 0.0}; }

inline Enclosed operator-(const Enclosed& a) { return {-a.value, a.error}; }

inline Enclosed operator+(const Enclosed& a, const Enclosed& b) {
  const double value = a.value + b.value;
  return {value, safe_error(a.error + b.error + kUnitRoundoff * std::abs(value))};
}

inline Enclosed operator-(const Enclosed& a, const Enclosed& b) { return a + (-b); }

inline Enclosed operator*(const Enclosed& a, const Enclosed& b) {
  const double value = a.value * b.value;
  const double from_operands = std::abs(a.value) * b.error + a.error * (std::abs(b.value) + b.error);
  return {value, safe_error(from_operands + kUnitRoundoff * std::abs(value))};
}

inline Enclosed operator*(double a, const Enclosed& b) { return exactly(a) * b; }

inline Enclosed square(const Enclosed& a) { return a * a; }

/// For a number known to be nonnegative: moving the value to the nearest nonnegative one moves it no farther
/// away.
inline Enclosed nonnegative(const Enclosed& a) { return {positive_part(a.value), a.error}; }

}  // namespace mixcert
