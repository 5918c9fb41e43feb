// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "sensitivity/mean_slopes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "activation/activation_traits.h"
#include "activation/gaussian_moments.h"

namespace mixcert {
namespace {

// E|x| and E|x^2 - 1| of a standard normal x, rounded up.
constexpr double kMeanSize = 0.797885;
constexpr double kMeanSquareSize = 0.967883;
/// Of what is computed in a few operations, in units of the slopes.
constexpr double kSlack = 1e-12;

double normal_cdf(double t) { return 0.5 * std::erfc(-t / std::numbers::sqrt2); }

/// No more than mean / s for any s within the change of the deviation.
double least_ratio(double mean, double deviation, double deviation_change) {
  const double least = positive_part(deviation - deviation_change);
  const double most = deviation + deviation_change;
  const double s = mean > 0.0 ? most : least;
  if (s > 0.0) return mean / s;
  // Without a deviation a mean of zero sits on the kink: it counts as below.
  return mean > 0.0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

bool has_one_kink(const Activation& activation) {
  return activation.function() == ActivationFunction::Relu ||
         activation.function() == ActivationFunction::LeakyRelu;
}

/// Is |f''| <= 1? So it is for all analytic functions of the library.
bool has_smooth_slopes(const Activation& activation) { return activation.traits().analytic() != nullptr; }

/// l + (1 - l) P(z > 0), l the slope below zero.
SlopeRange of_one_kink(const Activation& activation, double mean, double deviation, double mean_change,
                       double deviation_change) {
  const double left = activation.function() == ActivationFunction::Relu ? 0.0 : activation.slope();
  const double least = normal_cdf(least_ratio(mean - mean_change, deviation, deviation_change));
  const double most = normal_cdf(-least_ratio(-(mean + mean_change), deviation, deviation_change));
  const double a = left + (1.0 - left) * least, b = left + (1.0 - left) * most;
  return {std::min(a, b), std::max(a, b)};
}

/// From E f'(z) = E[f(z) x] / s at the middle; its derivatives in m and s are E[(f' - k) x] / s and E[(f' -
/// k) (x^2 - 1)] / s, k the middle of all slopes, and where |f''| <= 1 at most 1 and E|x|.
SlopeRange from_the_middle(const Activation& activation, double mean, double deviation, double mean_change,
                           double deviation_change) {
  const SlopeRange all = activation.slope_range();
  const bool is_smooth = has_smooth_slopes(activation);
  const double least = deviation - deviation_change;
  if (!is_smooth && !(least > 0.0)) return all;
  double radius = std::numeric_limits<double>::infinity();
  if (least > 0.0)
    radius =
        0.5 * (all.high - all.low) * (kMeanSize * mean_change + kMeanSquareSize * deviation_change) / least;
  if (is_smooth) radius = std::min(radius, mean_change + kMeanSize * deviation_change);
  double centre = activation.derivative(mean);
  if (deviation > 0.0) {
    const Enclosed slope = gaussian_moments(activation, mean, deviation).slope;
    centre = slope.value / deviation;
    radius += slope.error / deviation;
  }
  return {centre - enlarged(radius), centre + enlarged(radius)};
}

/// No less than the deviation of averages of slopes along the way: (Bhatia and Davis) a number in [a, b] with
/// mean c has at most the variance (b - c)(c - a); and f'(z) deviates no more than z where |f''| <= 1.
double largest_spread(const Activation& activation, double low, double high, double deviation) {
  const SlopeRange all = activation.slope_range();
  const double middle = std::clamp(0.5 * (all.low + all.high), low, high);
  const double spread = std::sqrt(positive_part((all.high - middle) * (middle - all.low)));
  return has_smooth_slopes(activation) ? std::min(spread, deviation) : spread;
}

}  // namespace

MeanSlope mean_slope(const Activation& activation, double mean, double deviation, double mean_change,
                     double deviation_change) {
  const SlopeRange all = activation.slope_range();
  const auto range = has_one_kink(activation) ? of_one_kink : from_the_middle;
  const SlopeRange found = range(activation, mean, deviation, mean_change, deviation_change);
  const double slack = kSlack * (1.0 + std::abs(all.low) + std::abs(all.high));
  const double low = std::clamp(found.low - slack, all.low, all.high);
  const double high = std::clamp(found.high + slack, low, all.high);
  const double spread = largest_spread(activation, low, high, deviation + deviation_change);
  return {0.5 * (low + high), enlarged(0.5 * (high - low)) + slack, enlarged(spread) + slack};
}

}  // namespace mixcert
