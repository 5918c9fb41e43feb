// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/normal_line.h"

#include <cmath>

namespace mixcert::testing {

double Line::below(double x) const {
  double sum = 0.0;
  for (const auto& [weight, mean, deviation] : parts) {
    if (deviation > 0.0) {
      sum += weight * 0.5 * std::erfc((mean - x) / deviation * M_SQRT1_2);
    } else if (mean <= x) {
      sum += weight;
    }
  }
  return sum;
}

double Line::quantile(double level) const {
  double low = -100.0, high = 100.0;
  for (int i = 0; i < 60; ++i) (below(0.5 * (low + high)) < level ? low : high) = 0.5 * (low + high);
  return 0.5 * (low + high);
}

double line_distance(const Line& a, const Line& b, int levels) {
  double squares = 0.0;
  for (int i = 0; i < levels; ++i) {
    const double level = (i + 0.5) / levels;
    squares += std::pow(a.quantile(level) - b.quantile(level), 2);
  }
  return std::sqrt(squares / levels);
}

}  // namespace mixcert::testing
