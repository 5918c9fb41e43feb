// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Outward rounding. A certified number is computed twice at once: `nominal` is
// the floating-point value of the formula, `upper` a number proven to be no
// smaller than the formula's exact value. Every operation rounds `upper` up by
// one unit in the last place (the processor rounds to nearest, so the exact
// result lies below the next representable number). Directed rounding modes
// are not used: compilers reorder around them.
// Theory: docs/theory/rounding.md, (R.1) to (R.10).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "mixcert/core/types.h"

namespace mixcert {

/// Unit roundoff of IEEE double: 2^-53.
inline constexpr double kUnitRoundoff = 1.1102230246251565e-16;

/// Accuracy assumed of the C library's exp, erf, tanh, log1p ... and of Eigen's exp, log, sin and cos of
/// arrays, relative: 16 units of roundoff. It is listed among the assumptions of every certificate.
inline constexpr double kElementaryFunctionError = 16 * kUnitRoundoff;

/// The next double above: std::nextafter, whose call costs more than the sums it is used in. Doubles of one
/// sign are ordered as their bits are.
inline double next_up(double x) {
  if (!(x < std::numeric_limits<double>::infinity())) return x;
  if (x == 0.0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return std::bit_cast<double>(x > 0.0 ? bits + 1 : bits - 1);
}
inline double next_down(double x) { return -next_up(-x); }

/// max(x, 0), and NaN where x is: std::max(0.0, NaN) is 0, which would hide that there is no bound.
inline double positive_part(double x) { return x <= 0.0 ? 0.0 : x; }
/// The same entry by entry: Eigen's cwiseMax(0.0) may make 0 of NaN, too.
template <class Derived>
typename Derived::PlainObject positive_part(const Eigen::DenseBase<Derived>& x) {
  return x.derived().unaryExpr([](double entry) { return positive_part(entry); });
}
/// The larger one, NaN where either is: std::max(a, NaN) is a.
inline double larger_or_nan(double a, double b) { return a >= b || std::isnan(a) ? a : b; }
template <class Derived>
typename Derived::PlainObject larger_or_nan(const Eigen::DenseBase<Derived>& a, double b) {
  return a.derived().unaryExpr([b](double entry) { return larger_or_nan(entry, b); });
}
template <class Derived, class Other>
typename Derived::PlainObject larger_or_nan(const Eigen::DenseBase<Derived>& a,
                                            const Eigen::DenseBase<Other>& b) {
  return a.derived().binaryExpr(b.derived(), [](double x, double y) { return larger_or_nan(x, y); });
}

/// (R.10) What kernels use where `UpperBound` would cost more than the sums themselves: a number computed
/// from nonnegative ones in at most 2^22 roundings, made so much larger, or smaller, that it bounds the exact
/// one.
inline constexpr double kKernelSlack = 1e-9;
inline constexpr double enlarged(double x) { return x * (1.0 + kKernelSlack); }
inline constexpr double reduced(double x) { return x * (1.0 - kKernelSlack); }
template <class Derived>
typename Derived::PlainObject enlarged(const Eigen::DenseBase<Derived>& x) {
  return x.derived() * (1.0 + kKernelSlack);
}

/// gamma_n = n u / (1 - n u), (R.1): relative error of a sum or product of n terms,
/// in whatever order it is evaluated. Rounded up.
inline double rounding_gamma(Index operation_count) {
  const double nu = static_cast<double>(operation_count) * kUnitRoundoff;
  return next_up(next_up(nu / next_down(1.0 - nu)));
}

/// A nonnegative certified quantity.
struct UpperBound {
  double nominal = 0.0;
  double upper = 0.0;

  /// A number that is exact as it stands.
  static UpperBound exact(double value) { return {value, value}; }
  /// A computed number whose absolute error is at most `error`.
  static UpperBound within(double value, double error) { return {value, next_up(value + next_up(error))}; }
  /// A sum of nonnegative terms computed with `operation_count` roundings, (R.2).
  static UpperBound of_sum(double value, Index operation_count) {
    return {value, next_up(value * next_up(1.0 + rounding_gamma(operation_count)))};
  }
  [[nodiscard]] double inflation() const { return upper - nominal; }
};

inline UpperBound operator+(UpperBound a, UpperBound b) {
  return {a.nominal + b.nominal, next_up(a.upper + b.upper)};
}
inline UpperBound operator*(UpperBound a, UpperBound b) {
  return {a.nominal * b.nominal, next_up(a.upper * b.upper)};
}
inline UpperBound sqrt(UpperBound a) { return {std::sqrt(a.nominal), next_up(std::sqrt(a.upper))}; }
inline UpperBound min(UpperBound a, UpperBound b) { return b.upper < a.upper ? b : a; }

}  // namespace mixcert
