// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments from nodes: first the mean and slope of g, f less its line and its value at the mean; then, on the
// same nodes, sums of squares of what is left. Var and T^2 are never differences of large numbers. Errors:
// (V.6).
#pragma once

#include <algorithm>
#include <cmath>

#include "activation/activation_traits.h"
#include "activation/enclosed_arithmetic.h"
#include "activation/quadrature_rules.h"

namespace mixcert {

// Relative error of a weight: the density at |x| <= 9.75, a rounded node, two products.
inline constexpr double kWeightError = 320 * kUnitRoundoff;
// Terms beyond the cut, relative to the integrand's polynomial bound at the cut.
inline constexpr double kCutErrorFactor = 2.6e-19;

/// |g(m + s zeta) - center| and so on for |zeta| <= X, zeta in the domain of analyticity.
struct Growth {
  double deviation;
  StripBound strip;
  double offset;  ///< error of `center`

  [[nodiscard]] double difference(double x) const {
    return std::min(deviation * strip.slope * x, strip.value + 1.0) + offset;
  }
  /// Taylor remainder less its mean and slope.
  [[nodiscard]] double remainder(double x) const {
    return deviation * deviation * strip.curvature * (x * (0.5 * x + 0.8) + 0.5);
  }
};

/// Quadrature error of an integrand bounded by a polynomial B(|zeta|) of degree at most 4 times the density:
/// factor B(radius) with the growth off the line, and the cut, where only the growth on the line counts.
struct RuleError {
  double factor, radius;
  Growth off_line, on_line;

  template <class Bound>
  [[nodiscard]] double operator()(const Bound& bound) const {
    return kMargin * (factor * bound(off_line, radius) + kCutErrorFactor * bound(on_line, kCut));
  }
};

/// The sums over the nodes of one rule, for one neuron.
class NodeSums {
 public:
  /// `center` is the value at the mean that g is taken less; |f'| and, if the line was taken off, |f' - 1|
  /// are at most `steepest`.
  NodeSums(const WeightedNodes& rule, const NodeValues& g, const RuleError& rule_error,
           const Enclosed& center, double deviation, double value_error, double steepest)
      : rule_(rule),
        g_(g),
        rule_error_(rule_error),
        center_(center),
        deviation_(deviation),
        value_error_(value_error),
        sum_error_(kMargin * (rounding_gamma(rule.nodes.size() + 16) + kWeightError)),
        fourth_norm_(kMargin * kFourthNorm * steepest * deviation + value_error_) {}

  GaussianMoments moments() const {
    GaussianMoments of_g;
    of_g.mean.value = sum(rule_.weights * g_.values);
    of_g.slope.value = sum(rule_.first_weights * g_.values);
    const NodeArray rest = g_.values - of_g.mean.value - of_g.slope.value * rule_.nodes;
    of_g.residual.value = sum(rule_.weights * rest.square());
    of_g.curvature.value = sum(rule_.curvature_weights * rest);
    add_errors(of_g);

    const Enclosed& center = center_;
    GaussianMoments m = of_g;
    m.mean = center + of_g.mean;
    if (g_.line) m.slope = of_g.slope + exactly(deviation_);
    // Of d = a - center: E d^2 = (E d)^2 + c_1^2 + T^2.
    const Enclosed square_of_d = square(of_g.mean) + square(m.slope) + of_g.residual;
    const Enclosed mean_of_q = 2.0 * (center * of_g.mean) + square_of_d;
    m.second = nonnegative(square(center) + mean_of_q);
    fill_square(m, center, kMargin * std::sqrt(square_of_d.upper()), mean_of_q);
    return m;
  }

 private:
  template <class Terms>
  static double sum(const Terms& terms) {
    return terms.sum();
  }

  /// Errors of mean, slope, residual and curvature of g.
  void add_errors(GaussianMoments& m) const {
    const double mean = m.mean.value;
    const double slope = m.slope.value;
    const double rest_norm = kMargin * std::sqrt(m.residual.value);
    const double norm = kMargin * std::sqrt(mean * mean + slope * slope + m.residual.value);
    const double rounding = safe_error(kMargin * value_error_ + sum_error_ * norm);
    m.mean.error = rounding + rule_error_([](const Growth& g, double x) { return g.difference(x); });
    m.slope.error = rounding + rule_error_([](const Growth& g, double x) { return x * g.difference(x); });

    const double rest_error = kMargin * value_error_ + 9 * kUnitRoundoff * norm;
    const auto bound = [&](const Growth& g, double x) {
      const double crude = g.difference(x) + std::abs(mean) + std::abs(slope) * x;
      return std::min(crude, g.remainder(x) + m.mean.error + m.slope.error * x);
    };
    const double quadrature =
        rule_error_([&](const Growth& g, double x) { return bound(g, x) * bound(g, x); });
    const double projection = m.mean.error * m.mean.error + m.slope.error * m.slope.error;
    m.residual.error = safe_error(quadrature + kMargin * (2.0 * rest_norm + rest_error) * rest_error +
                                  sum_error_ * m.residual.value + kMargin * projection);
    m.curvature.error =
        safe_error(rule_error_([&](const Growth& g, double x) { return bound(g, x) * (x * x + 1.0); }) +
                   kMargin * rest_error + sum_error_ * rest_norm);
  }

  /// |d| off the line, d = a - center.
  [[nodiscard]] double difference(const Growth& growth, double x) const {
    return growth.difference(x) + (g_.line ? deviation_ * x : 0.0);
  }

  /// E[a^2 x] and Var(a^2) from d and q = a^2 - center^2 = d (2 center + d); `norm` is that of d, `mean_of_q`
  /// is E q.
  void fill_square(GaussianMoments& m, const Enclosed& center, double norm, const Enclosed& mean_of_q) const {
    NodeArray d = g_.values;
    if (g_.line) d += deviation_ * rule_.nodes;
    const double epsilon = kMargin * value_error_;
    const auto third_bound = [&](const Growth& g, double x) {
      return x * difference(g, x) * difference(g, x);
    };
    const double rounding = epsilon * (2.0 * norm + epsilon) + sum_error_ * fourth_norm_ * norm;
    const Enclosed third{sum(rule_.first_weights * d.square()),
                         safe_error(rule_error_(third_bound) + kMargin * kFourthNorm * rounding)};
    m.square_slope = 2.0 * (center * m.slope) + third;

    const double twice = 2.0 * std::abs(center.value);
    const double square = sum(rule_.weights * (d * (2.0 * center.value + d) - mean_of_q.value).square());
    const double q_error =
        kMargin * (epsilon * (twice + 2.0 * fourth_norm_ + epsilon) + 2.0 * center.error * norm +
                   8 * kUnitRoundoff * (twice * norm + fourth_norm_ * fourth_norm_));
    const auto bound = [&](const Growth& g, double x) {
      const double q = difference(g, x) * (twice + difference(g, x)) + std::abs(mean_of_q.value);
      return q * q;
    };
    m.square_variance = {
        square,
        safe_error(rule_error_(bound) + kMargin * (2.0 * kMargin * std::sqrt(square) + q_error) * q_error +
                   sum_error_ * square + kMargin * mean_of_q.error * mean_of_q.error)};
  }

  const WeightedNodes& rule_;
  const NodeValues& g_;
  RuleError rule_error_;
  Enclosed center_;
  double deviation_;
  double value_error_;  // fourth norm of the error of a node's value
  double sum_error_;    // relative: weights and summation
  double fourth_norm_;  // of g and of d
};

}  // namespace mixcert
