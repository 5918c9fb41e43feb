// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// CRPS(F, y) = integral of (F - 1{x >= y})^2 = E|Y - y| - E|Y - Y'|/2, closed for Gaussian mixtures, since
// E|N(m, s^2)| = 2 s phi(m/s) + m (2 Phi(m/s) - 1). Under the true law (U.18) it moves by at most 2 W1, and
// its root, a norm in L2, by at most |F_p - F_q| <= min(W1^(1/2), W1 (2 s sqrt pi)^(-1/2)), s the noise.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/normal.h"
#include "mixcert/answer/predictive.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr Index kMostComponents = 4096;
constexpr double kTwoRootPi = 3.5449077018110318;

/// E|N(mean, deviation^2)|; error below 64 u (|mean| + deviation).
double absolute_mean(double mean, double deviation) {
  if (deviation == 0.0) return std::abs(mean);
  const double z = std::abs(mean) / deviation;
  return 2.0 * deviation * normal_density(z) + std::abs(mean) * (1.0 - 2.0 * normal_tail(z));
}

struct Crps {
  double value = 0.0;
  double error = 0.0;
};

Crps crps(const LineMixture& line, double label) {
  double distance = 0.0;
  double spread = 0.0;
  for (Index i = 0; i < line.size(); ++i) {
    const double weight = line.weights()(i);
    if (weight == 0.0) continue;
    const double deviation = line.deviations()(i);
    distance += weight * absolute_mean(line.means()(i) - label, deviation);
    spread += weight * weight * absolute_mean(0.0, std::sqrt(2.0) * deviation);
    for (Index j = 0; j < i; ++j) {
      const double both = std::hypot(deviation, line.deviations()(j));
      spread += 2.0 * weight * line.weights()(j) * absolute_mean(line.means()(i) - line.means()(j), both);
    }
  }
  const double weights = line.weights().sum();
  distance /= weights;
  spread /= weights * weights;
  // |mean| + deviation is below 3 E|N|, and differences of means are rounded once.
  const double gamma = rounding_gamma(line.size() * line.size() / 2 + 2 * line.size() + 400);
  return {distance - 0.5 * spread, gamma * (distance + spread)};
}

/// No less than the L2 distance of the distribution functions.
double cramer_distance(double w1, double noise_std) {
  const double plain = std::sqrt(w1);
  const double smooth =
      noise_std > 0.0 ? w1 / std::sqrt(kTwoRootPi * noise_std) : std::numeric_limits<double>::infinity();
  return std::min(plain, smooth) * (1.0 + rounding_gamma(8));
}

}  // namespace

Interval certified_crps(const CertifiedLine& line, double noise_std, double label) {
  require(std::isfinite(label), "certified_crps: the label is not a finite number");
  if (line.mixture().size() > kMostComponents)
    return {std::numeric_limits<double>::quiet_NaN(), 0.0, kInfinity};
  const Crps q = crps(line.mixture(), label);
  if (!std::isfinite(line.w1())) return {q.value, 0.0, kInfinity};
  const double low = positive_part(next_down(q.value - q.error));
  const double high = next_up(positive_part(q.value) + q.error);
  const double shift = cramer_distance(line.w1(), noise_std);
  const double root = positive_part(std::sqrt(low) * (1.0 - rounding_gamma(2)) - shift);
  const double above = next_up(next_up(std::sqrt(high)) + shift);
  return {
      q.value,
      positive_part(larger_or_nan(next_down(low - 2.0 * line.w1()), root * root * (1.0 - rounding_gamma(4)))),
      std::min(next_up(high + 2.0 * line.w1()), next_up(above * above))};
}

}  // namespace mixcert
