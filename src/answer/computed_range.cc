// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Probabilities from the computed law of one output, docs/theory/answers.md (U.20). C is computed to `error`
// at places that are off by `offset`, and the output Y has a coupling with Y' ~ C in which E|Y - Y'|^2 <=
// moved^2, so that for every r > 0
//     P(Y <= x) <= C(x + r) + (moved/r)^2,      P(Y < x) >= C(x - r) - (moved/r)^2.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mixcert/answer/certified_law.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// No less than C(x) where the nodes reach, and than it is at their end before them; else one.
double upper_value(const OutputDistribution& law, double x) {
  if (!(x <= law.last())) return 1.0;
  return std::clamp(next_up(law.cdf(x) + law.error), 0.0, 1.0);
}

double lower_value(const OutputDistribution& law, double x) {
  if (!(x >= law.first)) return 0.0;
  return std::clamp(next_down(law.cdf(x) - law.error), 0.0, 1.0);
}

/// About what makes density r + (moved/r)^2 smallest; any r will do. Laws of few atoms have slopes of zero at
/// their nodes.
double best_radius(const OutputDistribution& law) {
  const Index cells = law.values.size() - 1;
  const double steepest = (law.values.tail(cells) - law.values.head(cells)).maxCoeff() / law.cell;
  const double density = std::max({law.density.maxCoeff(), steepest, std::numeric_limits<double>::min()});
  return std::cbrt(2.0 * law.moved * law.moved / density);
}

Interval range_below(const OutputDistribution& law, double from, double to) {
  double radius = best_radius(law), missed = 0.0;
  if (law.moved > 0.0) {
    if (!(radius > 0.0) || !std::isfinite(radius)) return {law.cdf(from), 0.0, 1.0};
    missed = enlarged(law.moved / radius) * enlarged(law.moved / radius);
  }
  const double reach = next_up(radius + law.offset);
  const double low = next_down(next_down(from) - reach), high = next_up(next_up(to) + reach);
  return {law.cdf(0.5 * (from + to)), positive_part(next_down(lower_value(law, low) - missed)),
          std::min(1.0, next_up(upper_value(law, high) + missed))};
}

}  // namespace

Interval CertifiedLine::below(double x) const {
  if (distribution_ == nullptr || std::isnan(x)) return {std::numeric_limits<double>::quiet_NaN(), 0.0, 1.0};
  if (std::isinf(x)) return x < 0.0 ? Interval{0.0, 0.0, 0.0} : Interval{1.0, 1.0, 1.0};
  // The quotient may be off by a unit.
  const double at = x / scale_;
  const Interval range = range_below(*distribution_, next_down(at), next_up(at));
  if (scale_ > 0.0) return range;
  return {1.0 - range.estimate, next_down(1.0 - range.upper), next_up(1.0 - range.lower)};
}

}  // namespace mixcert
