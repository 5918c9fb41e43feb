// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An answer: what the mixture says, and the range that the true law's value is proven to lie in.
#pragma once

#include <algorithm>
#include <limits>

namespace mixcert {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Interval {
  double estimate = 0.0;  ///< the mixture's value; within [lower, upper] up to rounding
  double lower = -kInfinity;
  double upper = kInfinity;

  [[nodiscard]] double width() const { return upper - lower; }
  [[nodiscard]] bool contains(double value) const { return lower <= value && value <= upper; }
  /// The same answer where it is known beforehand that the value lies in [low, high].
  [[nodiscard]] Interval within(double low, double high) const {
    return {estimate, std::max(lower, low), std::min(upper, high)};
  }
};

}  // namespace mixcert
