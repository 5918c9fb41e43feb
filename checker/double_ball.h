// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Balls of doubles, docs/theory/checking.md (I.7): as true as Arb's and a hundred times as fast, with half
// the digits. For numbers that come in pairs of neurons.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "ball.h"

namespace mixcert_check {

/// All numbers within `radius` of `middle`; all numbers where one of them is not finite.
struct DoubleBall {
  DoubleBall() = default;
  DoubleBall(double middle_, double radius_) : middle(middle_), radius(radius_) {}
  explicit DoubleBall(const Ball& a) {
    if (a.is_zero()) return;
    const Rounded near = rounded(a);
    middle = near.value;
    radius = near.off;
  }

  /// For the rounding of a radius, and what is too small for a double in it (I.7).
  static double raised(double radius) { return radius * (1.0 + 0x1.0p-49) + 0x1.0p-1070; }

  [[nodiscard]] Ball ball() const {
    const bool is_known = radius <= std::numeric_limits<double>::max();
    return around(middle, is_known ? radius : INFINITY);
  }

  [[nodiscard]] bool is_zero() const { return middle == 0.0 && radius == 0.0; }

  friend DoubleBall operator+(const DoubleBall& a, const DoubleBall& b) {
    const double sum = a.middle + b.middle;
    return {sum, raised(a.radius + b.radius + 0x1.0p-52 * std::fabs(sum))};
  }
  friend DoubleBall operator*(const DoubleBall& a, const DoubleBall& b) {
    const double product = a.middle * b.middle;
    return {product, raised(std::fabs(a.middle) * b.radius + a.radius * (std::fabs(b.middle) + b.radius) +
                            0x1.0p-52 * std::fabs(product))};
  }
  friend DoubleBall absolute(const DoubleBall& a) { return {std::fabs(a.middle), a.radius}; }

  double middle = 0.0, radius = 0.0;
};

using DoubleBalls = std::vector<DoubleBall>;

inline DoubleBalls in_doubles(const std::vector<Ball>& balls) { return {balls.begin(), balls.end()}; }

}  // namespace mixcert_check
