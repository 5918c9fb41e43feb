// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Soft tails of one Gaussian (U.5). In standard units, z = (t - m)/s, k = h/s, a = z - k:
//     P(Z > a) - E[((z - Z)/k)^order; a < Z <= z].
// It falls with z and rises with k, so z is rounded down, k up, a down once more; the k of the formula is
// then z - a, which is no smaller. The closed forms come with their errors (Q.3).
#include <algorithm>
#include <cmath>

#include "answer/line_dual.h"
#include "answer/normal_range.h"

namespace mixcert {
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

}  // namespace mixcert
