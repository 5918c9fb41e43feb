// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Standard normal law. Truncated moments follow (Q.3) of docs/theory/quantizers.md.
#include "core/normal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace mixcert {
namespace {

constexpr int kNormalNodes = 12;
// Intervals up to this width (beyond |midpoint| = kNarrowReach as much narrower as the midpoint
// is farther out) are integrated by Gauss-Legendre, whose relative error is then below 3e-16
// (Q.3). The error of the exponent grows with the square of the midpoint.
constexpr double kNarrowWidth = 0.5;
constexpr double kNarrowReach = 10.0;
constexpr double kNarrowError = 1e-13;
// What underflow in a density can hide, and where it hides all of it.
constexpr double kUnderflow = 1e-300;
constexpr double kFarOut = 39.0;

struct GaussLegendre {
  std::array<double, kNormalNodes> node{};
  std::array<double, kNormalNodes> weight{};

  GaussLegendre() {
    for (int i = 0; i < kNormalNodes; ++i) place_node(i);
  }

 private:
  // Newton on the Legendre polynomial from the Chebyshev-like start; converges to the
  // last bit in a few steps for 12 nodes.
  void place_node(int i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (kNormalNodes + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 50; ++step) {
      double previous = 1.0;
      double value = x;
      for (int n = 2; n <= kNormalNodes; ++n) {
        const double next = ((2 * n - 1) * x * value - (n - 1) * previous) / n;
        previous = value;
        value = next;
      }
      slope = kNormalNodes * (x * value - previous) / (x * x - 1.0);
      x -= value / slope;
    }
    node[static_cast<std::size_t>(i)] = x;
    weight[static_cast<std::size_t>(i)] = 2.0 / ((1.0 - x * x) * slope * slope);
  }
};

const GaussLegendre& rule() {
  static const GaussLegendre instance;
  return instance;
}

bool is_narrow(double lower, double upper) {
  const double width = upper - lower;
  return width <= kNarrowWidth && width * std::abs(lower + upper) <= 2 * kNarrowReach * kNarrowWidth;
}

/// Integral of f(z - center) phi(z) over a narrow interval. The difference is formed from those
/// of the ends, which are exact when close: z itself is rounded by more than a narrow cell bears.
template <class F>
double integrate_narrow(double center, double lower, double upper, const F& f) {
  const double half = 0.5 * (upper - lower);
  const double middle = 0.5 * (upper + lower);
  const double offset = 0.5 * ((lower - center) + (upper - center));
  double sum = 0.0;
  for (std::size_t i = 0; i < kNormalNodes; ++i) {
    const double step = half * rule().node[i];
    sum += rule().weight[i] * f(offset + step) * normal_density(middle + step);
  }
  return half * sum;
}

/// Relative error of integrate_narrow for a nonnegative f.
double narrow_error(double lower, double upper) {
  const double reach = 0.5 * (lower + upper) / kNarrowReach;
  return kNarrowError * (1.0 + reach * reach);
}

/// factor * phi(x), zero at infinite x.
double times_density(double factor, double x) { return std::isinf(x) ? 0.0 : factor * normal_density(x); }

/// What one end adds to a closed form with these factors of phi(x) and of Phi(x), each part times 1 + x^2:
/// phi(x) and erfc(x) are computed with a relative error of about that many units, the exponent's own
/// rounding.
double end_magnitude(double x, double density_factor, double mass_factor) {
  if (std::abs(x) > kFarOut) return 0.0;
  return (1.0 + x * x) *
         (std::abs(density_factor) * normal_density(x) + mass_factor * normal_tail(std::abs(x)));
}

}  // namespace

double normal_density(double x) {
  return std::exp(-0.5 * x * x) / std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
}

double normal_tail(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

double normal_cdf(double x) { return normal_tail(-x); }

double normal_quantile(double p) {
  if (!(p > 0.0 && p < 1.0)) return p == 0.0 ? -INFINITY : (p == 1.0 ? INFINITY : NAN);
  const double tail = std::min(p, 1.0 - p);
  // Rational start of Abramowitz and Stegun 26.2.22, then Halley's iteration.
  const double t = std::sqrt(-2.0 * std::log(tail));
  double x = t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t));
  for (int step = 0; step < 4; ++step) {
    const double newton = (normal_tail(x) - tail) / normal_density(x);
    x += newton / (1.0 - 0.5 * x * newton);
  }
  return p < 0.5 ? -x : x;
}

double normal_mass(double lower, double upper) {
  if (lower >= upper) return 0.0;
  if (is_narrow(lower, upper)) return integrate_narrow(0.0, lower, upper, [](double) { return 1.0; });
  if (lower > 0.0) return normal_tail(lower) - normal_tail(upper);
  if (upper < 0.0) return normal_cdf(upper) - normal_cdf(lower);
  return 1.0 - normal_cdf(lower) - normal_tail(upper);
}

UpperBound normal_square_about(double center, double lower, double upper) {
  if (lower >= upper) return UpperBound::exact(0.0);
  if (is_narrow(lower, upper)) {
    const double value = integrate_narrow(center, lower, upper, [](double d) { return d * d; });
    return UpperBound::within(value, value * narrow_error(lower, upper) + kUnderflow);
  }
  const double factor = 1.0 + center * center;
  const double mass = factor * normal_mass(lower, upper);
  const double low = times_density(lower - 2.0 * center, lower);
  const double high = times_density(upper - 2.0 * center, upper);
  const double magnitude = mass + end_magnitude(lower, lower - 2.0 * center, factor) +
                           end_magnitude(upper, upper - 2.0 * center, factor);
  const double error = 4 * kElementaryFunctionError * magnitude + kUnderflow;
  return UpperBound::within(positive_part(mass + low - high), error);
}

UpperBound normal_distance_about(double center, double lower, double upper) {
  if (lower >= upper) return UpperBound::exact(0.0);
  const double value = std::abs(normal_mean_about(center, lower, upper));
  if (is_narrow(lower, upper))
    return UpperBound::within(value, value * narrow_error(lower, upper) + kUnderflow);
  const double factor = std::abs(center);
  const double magnitude = factor * normal_mass(lower, upper) + end_magnitude(lower, 1.0, factor) +
                           end_magnitude(upper, 1.0, factor);
  return UpperBound::within(value, 4 * kElementaryFunctionError * magnitude + kUnderflow);
}

double normal_mean_about(double center, double lower, double upper) {
  if (lower >= upper) return 0.0;
  if (is_narrow(lower, upper)) return integrate_narrow(center, lower, upper, [](double d) { return d; });
  return times_density(1.0, lower) - times_density(1.0, upper) - center * normal_mass(lower, upper);
}

double normal_ball_probability(double radius, Index dimension) {
  // |Z|^2/2 is Gamma(dimension/2): with x = r^2/2, P(|Z| > r) is the sum of x^s e^{-x} / Gamma(s+1)
  // over s = dimension/2 - 1, dimension/2 - 2, ... >= 0, plus P(|Z_1| > r) when dimension is odd.
  // Terms are built up in logarithms; std::lgamma would write a global.
  const double x = 0.5 * radius * radius;
  if (x == 0.0) return 0.0;
  const bool odd = dimension % 2 == 1;
  double outside = odd ? 2.0 * normal_tail(radius) : 0.0;
  double s = odd ? 0.5 : 0.0;
  double log_term = odd ? 0.5 * std::log(4.0 * x / std::numbers::pi) - x : -x;
  for (Index i = 0; i < dimension / 2; ++i) {
    outside += std::exp(log_term);
    s += 1.0;
    log_term += std::log(x / s);
  }
  return std::clamp(1.0 - outside, 0.0, 1.0);
}

}  // namespace mixcert
