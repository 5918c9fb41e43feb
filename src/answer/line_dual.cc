// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The dual bound on the line, (U.4), (U.5): soft tails of one Gaussian, and the best width.
#include <algorithm>
#include <cmath>

#include "answer/dual_bounds.h"
#include "core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

// Enclosures of the normal tail. erfc is accurate to 16 u (R.1); its argument x/sqrt(2) is off by 2 u
// relative, which changes erfc by at most 2 (1 + x^2) u of itself for x > 0, since x erfc'(x)/erfc(x) >= -(1
// + 2 x^2), and by less than u for x < 0. Beyond 38 the tail is below 1e-315.

namespace {

/// Where a normal number is never found, up to kNormalVoid.
constexpr double kNormalReach = 38.0;
constexpr double kNormalVoid = 1e-300;

/// No less than P(Z > x).
double normal_tail_upper(double x) {
  if (x >= kNormalReach) return kNormalVoid;
  const double square = x > 0.0 ? x * x : 0.0;
  const double error = 2.0 * kElementaryFunctionError * (1.0 + square);
  return std::min(1.0, next_up(normal_tail(x) * (1.0 + error)));
}

}  // namespace

// Soft tails of one Gaussian (U.5). In standard units, z = (t - m)/s, k = h/s, a = z - k:
//     P(Z > a) - E[((z - Z)/k)^order; a < Z <= z].
// It falls with z and rises with k, so z is rounded down, k up, a down once more; the k of the formula is
// then z - a, which is no smaller. The closed forms come with their errors (Q.3).

namespace {

// Beyond this, squares overflow; a Gaussian is then as good as an atom.
constexpr double kHuge = 1e100;

double power(double x, TransportOrder order) { return order == TransportOrder::Two ? x * x : x; }

/// E|Z - z|^order over (a, z].
UpperBound distance_moment(double z, double a, TransportOrder order) {
  return order == TransportOrder::Two ? normal_square_about(z, a, z) : normal_distance_about(z, a, z);
}

double lower_end(UpperBound value) {
  return positive_part(next_down(value.nominal - next_up(value.upper - value.nominal)));
}

/// Of an atom at distance `distance`, which is rounded down.
double atom_upper(double distance, double width, TransportOrder order) {
  if (distance <= 0.0) return 1.0;
  const double share = next_down(distance / width);
  return share >= 1.0 ? 0.0 : next_up(1.0 - positive_part(next_down(power(share, order))));
}

/// Of the standard normal law. The ends are exact numbers.
double normal_upper(double z, double k, TransportOrder order) {
  if (z <= -kNormalReach) return 1.0;
  if (z > kHuge || k > kHuge) return atom_upper(next_down(z - kNormalReach), k, order) + kNormalVoid;
  const double a = next_down(z - k);
  const double within = normal_tail_upper(a);
  if (a >= kNormalReach) return within;
  const double width = next_up(z - a);
  double moved = next_down(lower_end(distance_moment(z, a, order)) / width);
  if (order == TransportOrder::Two) moved = next_down(moved / width);
  return std::min(within, next_up(within - positive_part(moved)));
}

double component_upper(double mean, double deviation, double threshold, double width, TransportOrder order) {
  const double distance = next_down(threshold - mean);
  if (deviation == 0.0) {
    if (mean >= threshold) return 1.0;
    return width == 0.0 ? 0.0 : atom_upper(distance, width, order);
  }
  const double z = next_down(distance / deviation);
  return width == 0.0 ? normal_tail_upper(z) : normal_upper(z, next_up(width / deviation), order);
}

double component_share(double mean, double deviation, double threshold, double width, TransportOrder order) {
  const double z = (threshold - mean) / deviation;
  const double k = width / deviation;
  if (deviation == 0.0 || std::abs(z) > kHuge || k > kHuge) {
    const double share = (threshold - mean) / width;
    return share > 0.0 && share <= 1.0 ? power(share, order) : 0.0;
  }
  if (z <= -kNormalReach || z - k >= kNormalReach) return 0.0;
  const double moved = distance_moment(z, z - k, order).nominal / k;
  return order == TransportOrder::Two ? moved / k : moved;
}

}  // namespace

double soft_tail_upper(const LineMixture& line, double threshold, double width, TransportOrder order) {
  if (std::isinf(threshold)) return threshold < 0.0 ? 1.0 : 0.0;
  double sum = 0.0;
  bool is_zero = true;
  for (Index i = 0; i < line.size(); ++i) {
    const double weight = line.weights()(i);
    if (weight == 0.0) continue;
    const double value = component_upper(line.means()(i), line.deviations()(i), threshold, width, order);
    sum += weight * value;
    is_zero = is_zero && value == 0.0;
  }
  return is_zero ? 0.0 : std::min(1.0, line.average_upper(sum));
}

double moved_share(const LineMixture& line, double threshold, double width, TransportOrder order) {
  if (std::isinf(threshold)) return 0.0;
  double sum = 0.0;
  for (Index i = 0; i < line.size(); ++i) {
    const double weight = line.weights()(i);
    if (weight == 0.0) continue;
    sum += weight * component_share(line.means()(i), line.deviations()(i), threshold, width, order);
  }
  return sum / line.weights().sum();
}

// The best width. In lambda = 1/h^k the bound is convex, whatever the mixture, and its derivative vanishes
// where moving all that lies within h costs exactly the distance (U.4):
//     E_q[(d/h)^k; d <= h] = (distance/h)^k.
// The left side times h^k rises with h, so bisection finds it; no scan is needed. Any width gives a valid
// bound: only the value at the width found is rounded outward.

namespace {

constexpr double kRelativeWidth = 1e-14;
constexpr int kDualBisections = 100;
// Standard deviations beyond which there is nothing to move.
constexpr double kReach = 40.0;

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
