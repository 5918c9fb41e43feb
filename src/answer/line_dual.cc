// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The best width of the dual bound. In lambda = 1/h^k the bound is convex, whatever the mixture, and its
// derivative vanishes where moving all that lies within h costs exactly the distance (U.4):
//     E_q[(d/h)^k; d <= h] = (distance/h)^k.
// The left side times h^k rises with h, so bisection finds it; no scan is needed. Any width gives a valid
// bound: only the value at the width found is rounded outward.
#include "answer/line_dual.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr double kRelativeWidth = 1e-14;
constexpr int kDualBisections = 100;
// Standard deviations beyond which there is nothing to move.
constexpr double kReach = 40.0;

double power(double x, TransportOrder order) { return order == TransportOrder::Two ? x * x : x; }

double power_upper(double x, TransportOrder order) {
  return order == TransportOrder::Two ? next_up(x * x) : x;
}

/// No component has mass farther than this from a half-line.
double reach(const std::vector<HalfLine>& sides) {
  double farthest = 0.0;
  for (const HalfLine& side : sides) {
    if (std::isinf(side.threshold)) continue;
    const LineMixture& line = *side.line;
    for (Index i = 0; i < line.size(); ++i) {
      const double distance = side.threshold - line.means()(i) + kReach * line.deviations()(i);
      farthest = larger_or_nan(farthest, distance);
    }
  }
  return farthest;
}

double evaluate(const std::vector<HalfLine>& sides, double offset, double distance, double width,
                TransportOrder order) {
  double sum = 0.0;
  for (const HalfLine& side : sides) {
    const double tail = soft_tail_upper(*side.line, side.threshold, width, order);
    sum = sum == 0.0 ? tail : next_up(sum + tail);
  }
  if (offset != 0.0) sum = next_up(sum + offset);
  if (distance > 0.0) sum = next_up(sum + power_upper(next_up(distance / width), order));
  return std::clamp(sum, 0.0, 1.0);
}

DualBound best(const std::vector<HalfLine>& sides, double offset, double distance, TransportOrder order) {
  if (!std::isfinite(distance)) return {};
  if (distance == 0.0) return {evaluate(sides, offset, 0.0, 0.0, order), 0.0};
  const auto too_wide = [&](double width) {
    double share = 0.0;
    for (const HalfLine& side : sides) share += moved_share(*side.line, side.threshold, width, order);
    return share >= power(distance / width, order);
  };
  double low = distance;
  double high = distance + reach(sides);
  // Everything can be moved: no bound but 1.
  if (!std::isfinite(high) || !too_wide(high)) return {};
  for (int step = 0; step < kDualBisections && high > low * (1.0 + kRelativeWidth); ++step) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (too_wide(middle) ? high : low) = middle;
  }
  return {evaluate(sides, offset, distance, high, order), high};
}

}  // namespace

DualBound dual_bound(const std::vector<HalfLine>& sides, double offset, double w2, double w1) {
  const DualBound second = best(sides, offset, w2, TransportOrder::Two);
  // W1 <= W2 is all that is known where the two bounds agree; the second order is then never worse.
  if (!(w1 < w2)) return second;
  const DualBound first = best(sides, offset, w1, TransportOrder::One);
  return first.value < second.value ? first : second;
}

}  // namespace mixcert
