// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over components. Ranges of mean and deviation: (R.1) for sums, and for the variance
//     Var y = E(y - c)^2 - (c - E y)^2
// with c the computed mean, whose error bounds the last term. Everything is divided by the largest deviation
// first, so that nothing overflows or is lost.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/normal.h"
#include "mixcert/answer/certified_law.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr double kWeightTolerance = 1e-9;
constexpr int kBisections = 200;

/// (x - mean) / deviation; an atom is infinitely far from everything but itself.
double standardised(double x, double mean, double deviation) {
  const double difference = x - mean;
  if (difference == 0.0) return 0.0;
  return deviation > 0.0 ? difference / deviation : std::copysign(kInfinity, difference);
}

/// sum_i w_i f(m_i, s_i) / sum_i w_i over components that have weight.
template <class F>
double average(const LineMixture& line, const F& f) {
  double sum = 0.0;
  for (Index i = 0; i < line.size(); ++i) {
    if (line.weights()(i) > 0.0) sum += line.weights()(i) * f(line.means()(i), line.deviations()(i));
  }
  return sum / line.weights().sum();
}

double component_tail(double x, double mean, double deviation) {
  if (deviation == 0.0) return mean > x ? 1.0 : 0.0;
  return normal_tail(standardised(x, mean, deviation));
}

}  // namespace

LineMixture::LineMixture(Vector weights, Vector means, Vector deviations)
    : weights_(std::move(weights)), means_(std::move(means)), deviations_(std::move(deviations)) {
  require(size() > 0 && means_.size() == size() && deviations_.size() == size(),
          "LineMixture: expected one mean and one deviation per weight, and at least one");
  require(weights_.minCoeff() >= 0.0 && std::abs(weights_.sum() - 1.0) <= kWeightTolerance,
          "LineMixture: expected nonnegative weights that sum to one");
  require(means_.allFinite(), "LineMixture: expected finite means");
  require(deviations_.allFinite() && deviations_.minCoeff() >= 0.0,
          "LineMixture: expected finite, nonnegative deviations");
}

double LineMixture::mean() const {
  if (size() == 1) return means_(0);
  return average(*this, [](double mean, double) { return mean; });
}

double LineMixture::deviation() const { return deviation_range().estimate; }

double LineMixture::density(double x) const {
  return average(*this, [&](double mean, double deviation) {
    if (deviation == 0.0) return mean == x ? kInfinity : 0.0;
    return normal_density((x - mean) / deviation) / deviation;
  });
}

double LineMixture::cdf(double x) const {
  return average(*this, [&](double mean, double deviation) {
    return deviation == 0.0 ? (mean <= x ? 1.0 : 0.0) : component_tail(-x, -mean, deviation);
  });
}

double LineMixture::tail(double x) const {
  return average(*this, [&](double mean, double deviation) { return component_tail(x, mean, deviation); });
}

double LineMixture::mass(double lower, double upper) const {
  return average(*this, [&](double mean, double deviation) {
    if (deviation == 0.0) return lower < mean && mean < upper ? 1.0 : 0.0;
    return normal_mass(standardised(lower, mean, deviation), standardised(upper, mean, deviation));
  });
}

double LineMixture::quantile(double p) const {
  require(p >= 0.0 && p <= 1.0, "LineMixture::quantile: expected 0 <= p <= 1, got " + std::to_string(p));
  // All quantiles of order p of the components lie between the two ends, and so does that of the mixture.
  double low = kInfinity;
  double high = -kInfinity;
  const double normal = normal_quantile(p);
  for (Index i = 0; i < size(); ++i) {
    if (weights_(i) == 0.0) continue;
    const double own = deviations_(i) == 0.0 ? means_(i) : means_(i) + deviations_(i) * normal;
    low = std::min(low, own);
    high = larger_or_nan(high, own);
  }
  if (std::isinf(low) || std::isinf(high)) return normal < 0.0 ? low : high;
  const auto reached = [&](double x) { return p < 0.5 ? cdf(x) >= p : tail(x) <= 1.0 - p; };
  if (reached(low)) return low;
  for (int step = 0; step < kBisections; ++step) {
    const double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) break;
    (reached(middle) ? high : low) = middle;
  }
  return high;
}

LineMixture LineMixture::mirrored() const { return {weights_, -means_, deviations_}; }

LineMixture LineMixture::with_noise(double deviation) const {
  require(
      std::isfinite(deviation) && deviation >= 0.0,
      "LineMixture::with_noise: expected a finite, nonnegative deviation, got " + std::to_string(deviation));
  const Vector deviations = deviations_.unaryExpr([&](double own) { return std::hypot(own, deviation); });
  return {weights_, means_, deviations};
}

Interval LineMixture::mean_range() const {
  const double center = mean();
  if (size() == 1) return {center, center, center};
  const double size_of_terms = average(*this, [](double mean, double) { return std::abs(mean); });
  const double error =
      next_up(size_of_terms * rounding_gamma(4 * size() + 16) + std::numeric_limits<double>::min());
  return {center, next_down(center - error), next_up(center + error)};
}

Interval LineMixture::deviation_range() const {
  const Interval center = mean_range();
  double scale = 0.0;
  for (Index i = 0; i < size(); ++i) {
    if (weights_(i) == 0.0) continue;
    scale = std::max({scale, deviations_(i), std::abs(means_(i) - center.estimate)});
  }
  if (scale == 0.0) return {0.0, 0.0, 0.0};
  const double square = average(*this, [&](double mean, double deviation) {
    const double shift = (mean - center.estimate) / scale;
    return deviation / scale * (deviation / scale) + shift * shift;
  });
  const double gamma = rounding_gamma(4 * size() + 32);
  const double off = next_up(next_up(center.upper - center.lower) / scale);
  const double least = square * (1.0 - gamma) - std::numeric_limits<double>::min() - off * off;
  const double most = square * (1.0 + gamma) + std::numeric_limits<double>::min();
  const double lower = least > 0.0 ? next_down(scale * next_down(std::sqrt(next_down(least)))) : 0.0;
  return {scale * std::sqrt(square), positive_part(lower),
          next_up(scale * next_up(std::sqrt(next_up(most))))};
}

double LineMixture::average_upper(double weighted_sum) const {
  const double gamma = rounding_gamma(size() + 2);
  const double weight = next_down(weights_.sum() * (1.0 - gamma));
  return next_up(next_up(weighted_sum * next_up(1.0 + gamma) + std::numeric_limits<double>::min()) / weight);
}

}  // namespace mixcert
