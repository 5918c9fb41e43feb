// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Closed forms in plain double precision; they lose digits in narrow cells far out, which the
// small quantizers of the oracle do not have.
#include "support/naive_scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

namespace mixcert::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); }
double distribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// E[x^p; lower < x <= upper] for p = 0, 1, 2.
double moment(int power, double lower, double upper) {
  const auto edge = [&](double x) { return std::isinf(x) ? 0.0 : x * density(x); };
  // By symmetry the interval may be moved to the side where erfc is accurate.
  const double mass =
      lower > 0.0 ? distribution(-lower) - distribution(-upper) : distribution(upper) - distribution(lower);
  if (power == 0) return mass;
  if (power == 1) return density(lower) - density(upper);
  return mass + edge(lower) - edge(upper);
}

/// E[(a x + b)^2; lower < x <= upper].
double square_of_affine(double a, double b, double lower, double upper) {
  if (!(lower < upper)) return 0.0;
  return a * a * moment(2, lower, upper) + 2.0 * a * b * moment(1, lower, upper) +
         b * b * moment(0, lower, upper);
}

Vector midpoints(const Vector& locations) {
  const Index n = locations.size();
  Vector boundaries(n + 1);
  boundaries(0) = -kInfinity;
  boundaries(n) = kInfinity;
  for (Index i = 1; i < n; ++i) boundaries(i) = 0.5 * (locations(i - 1) + locations(i));
  return boundaries;
}

Vector lloyd(Index size) {
  Vector locations = Vector::LinSpaced(size, size > 1 ? -2.0 : 0.0, size > 1 ? 2.0 : 0.0);
  for (int iteration = 0; iteration < 100000; ++iteration) {
    const Vector cuts = midpoints(locations);
    const Vector centroids = Vector::NullaryExpr(
        size, [&](Index i) { return moment(1, cuts(i), cuts(i + 1)) / moment(0, cuts(i), cuts(i + 1)); });
    const Vector symmetric = 0.5 * (centroids - centroids.reverse());
    const double step = (symmetric - locations).cwiseAbs().maxCoeff();
    locations = symmetric;
    if (step < 1e-15) break;
  }
  return locations;
}

/// Positive root of x tanh(x/2) = 2, where silu is steepest.
double silu_inflection() {
  double low = 2.0;
  double high = 3.0;
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    (middle * std::tanh(0.5 * middle) < 2.0 ? low : high) = middle;
  }
  return low;
}

/// Where f'' vanishes, by hand.
std::vector<double> inflections(ActivationFunction function) {
  switch (function) {
    case ActivationFunction::Tanh:
    case ActivationFunction::Sigmoid:
    case ActivationFunction::Erf:
    case ActivationFunction::Tanhshrink:
      return {0.0};
    case ActivationFunction::Mish:
      return {-2.2563763963607931, 1.4905711794854285};
    case ActivationFunction::Gelu:
      return {-std::numbers::sqrt2, std::numbers::sqrt2};
    case ActivationFunction::Silu:
      return {-silu_inflection(), silu_inflection()};
    default:
      return {};
  }
}

/// Slopes left and right of zero of a piecewise linear function; false for the others.
bool piecewise_linear(const Activation& activation, double& left, double& right) {
  right = 1.0;
  left = 1.0;
  if (activation.function() == ActivationFunction::Relu) left = 0.0;
  if (activation.function() == ActivationFunction::LeakyRelu) left = activation.slope();
  return activation.function() == ActivationFunction::Identity || left != 1.0 ||
         activation.function() == ActivationFunction::LeakyRelu;
}

/// A line between two kinks, constant beyond.
bool is_clipped_line(ActivationFunction function) {
  return function == ActivationFunction::Relu6 || function == ActivationFunction::Hardtanh ||
         function == ActivationFunction::Hardsigmoid;
}

}  // namespace

const NaiveQuantizer& naive_quantizer(Index size, bool uniform_grid) {
  static std::map<std::pair<Index, bool>, NaiveQuantizer> cache;
  const auto [at, is_new] = cache.try_emplace({size, uniform_grid});
  NaiveQuantizer& q = at->second;
  if (!is_new) return q;
  const double n = static_cast<double>(size);
  q.locations = uniform_grid ? Vector::NullaryExpr(size,
                                                   [&](Index i) {
                                                     return 2.0 * std::sqrt(std::log(n)) / n *
                                                            (2.0 * static_cast<double>(i + 1) - n - 1.0);
                                                   })
                             : lloyd(size);
  q.boundaries = midpoints(q.locations);
  q.masses.resize(size);
  for (Index i = 0; i < size; ++i) {
    const double c = q.locations(i);
    const double low = q.boundaries(i);
    const double high = q.boundaries(i + 1);
    q.masses(i) = moment(0, low, high);
    q.distortion += square_of_affine(1.0, -c, low, high);
    q.mean_distance +=
        moment(1, c, high) - c * moment(0, c, high) + c * moment(0, low, c) - moment(1, low, c);
  }
  return q;
}

double naive_max_slope(const Activation& activation, double lower, double upper) {
  double slope =
      std::max(std::abs(naive_derivative(activation, lower)), std::abs(naive_derivative(activation, upper)));
  for (const double at : inflections(activation.function())) {
    if (lower <= at && at <= upper) slope = std::max(slope, std::abs(naive_derivative(activation, at)));
  }
  for (const SlopeJump& jump : slope_jumps(activation)) {
    if (lower > jump.at || jump.at > upper) continue;
    slope = std::max({slope, std::abs(jump.left), std::abs(jump.right)});
  }
  return slope;
}

double naive_lipschitz(const Activation& activation) {
  return naive_max_slope(activation, -kInfinity, kInfinity);
}

double naive_mean_square_change(const Activation& activation, double mean, double deviation, double center,
                                double lower, double upper) {
  if (deviation == 0.0) return 0.0;
  const double at_center = mean + deviation * center;
  double left = 1.0;
  double right = 1.0;
  if (piecewise_linear(activation, left, right)) {
    const double kink = std::clamp(-mean / deviation, lower, upper);
    const double offset = naive_activation(activation, at_center);
    return square_of_affine(left * deviation, left * mean - offset, lower, kink) +
           square_of_affine(right * deviation, right * mean - offset, kink, upper);
  }
  if (is_clipped_line(activation.function())) {
    const std::vector<SlopeJump> jumps = slope_jumps(activation);
    const double value = naive_activation(activation, at_center);
    const double first = std::clamp((jumps[0].at - mean) / deviation, lower, upper);
    const double last = std::clamp((jumps[1].at - mean) / deviation, lower, upper);
    const double floor = naive_activation(activation, jumps[0].at) - value;
    const double ceiling = naive_activation(activation, jumps[1].at) - value;
    const double slope = jumps[0].right;
    return square_of_affine(0.0, floor, lower, first) +
           square_of_affine(slope * deviation, slope * (mean - jumps[0].at) + floor, first, last) +
           square_of_affine(0.0, ceiling, last, upper);
  }
  double sum = 0.0;
  double start = lower;
  for (const double shift : {-2.0, -0.75, 0.0, 0.75, 2.0, kInfinity}) {
    const double end = std::min(upper, center + shift);
    if (end <= start) continue;
    const double slope = naive_max_slope(activation, std::min(at_center, mean + deviation * start),
                                         std::max(at_center, mean + deviation * end));
    sum += std::pow(slope * deviation, 2) * square_of_affine(1.0, -center, start, end);
    start = end;
  }
  return sum;
}

}  // namespace mixcert::testing
