// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Half-lines and intervals (U.5). The upper end is the dual bound of the closed set, the lower end one minus
// that of the complement of the open set.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "answer/line_dual.h"
#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

double one_minus_lower(double value) { return value == 0.0 ? 1.0 : positive_part(next_down(1.0 - value)); }

ProbabilityAnswer answer(double estimate, const DualBound& set, const DualBound& complement) {
  return {{estimate, one_minus_lower(complement.value), set.value}, 0.0, complement.width, set.width};
}

}  // namespace

ProbabilityAnswer probability_above(const CertifiedLine& line, double threshold) {
  require(!std::isnan(threshold), "probability_above: the threshold is not a number");
  const LineMixture& above = line.mixture();
  const LineMixture below = above.mirrored();
  return answer(above.tail(threshold), dual_bound({{&above, threshold}}, 0.0, line.w2(), line.w1()),
                dual_bound({{&below, -threshold}}, 0.0, line.w2(), line.w1()));
}

ProbabilityAnswer probability_between(const CertifiedLine& line, double lower, double upper) {
  require(!std::isnan(lower) && !std::isnan(upper), "probability_between: an end is not a number");
  if (lower > upper) return {{0.0, 0.0, 0.0}};
  if (upper == kInfinity) return probability_above(line, lower);
  const LineMixture& ascending = line.mixture();
  const LineMixture descending = ascending.mirrored();
  const double w2 = line.w2();
  const double w1 = line.w1();
  const DualBound inside = lower == -kInfinity
                               ? dual_bound({{&descending, -upper}}, 0.0, w2, w1)
                               : dual_bound({{&ascending, lower}, {&descending, -upper}}, -1.0, w2, w1);
  const DualBound outside = dual_bound({{&ascending, upper}, {&descending, -lower}}, 0.0, w2, w1);
  return answer(ascending.mass(lower, upper), inside, outside);
}

}  // namespace mixcert
