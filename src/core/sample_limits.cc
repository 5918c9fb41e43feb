// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "core/sample_limits.h"

#include <cmath>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr int kSteps = 200;

/// No more than kl(a, p) = a log(a/p) + (1-a) log((1-a)/(1-p)), 0 < p < 1.
double divergence_below(double a, double p) {
  const double first = a > 0.0 ? a * std::log(a / p) : 0.0;
  const double second = a < 1.0 ? (1.0 - a) * (std::log1p(-a) - std::log1p(-p)) : 0.0;
  const double sizes = std::abs(first) + std::abs(second) + a + 1.0;
  return first + second - 64.0 * kElementaryFunctionError * sizes;
}

}  // namespace

double largest_unit_mean(double mean, Index draws, double failure) {
  if (!(mean < 1.0)) return 1.0;
  const double wanted = enlarged(-std::log(failure)) / static_cast<double>(draws);
  // P(sample mean <= a) <= exp(-n kl(a, p)) for p >= a. Bisection: `high` is always proven.
  double low = mean, high = 1.0;
  for (int step = 0; step < kSteps && high - low > 1e-12 * high; ++step) {
    const double middle = 0.5 * (low + high);
    (middle < 1.0 && divergence_below(mean, middle) >= wanted ? high : low) = middle;
  }
  return high;
}

double largest_probability(Index hits, Index draws, double failure) {
  if (hits >= draws) return 1.0;
  return largest_unit_mean(static_cast<double>(hits) / static_cast<double>(draws), draws, failure);
}

double smallest_probability(Index hits, Index draws, double failure) {
  return hits <= 0 ? 0.0 : next_down(1.0 - largest_probability(draws - hits, draws, failure));
}

double largest_mean(double mean, double variance, double range, Index draws, double failure) {
  const auto n = static_cast<double>(draws);
  const double level = enlarged(std::log(2.0 / failure));
  return enlarged(mean + std::sqrt(2.0 * variance * level / n) + 7.0 * range * level / (3.0 * (n - 1.0)));
}

}  // namespace mixcert
