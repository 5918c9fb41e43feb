// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments from nodes: first the mean and slope of g, f less its line and its value at the mean; then, on the
// same nodes, sums of squares of what is left. Var and T^2 are never differences of large numbers. Errors:
// (V.6).
#include "activation/quadrature_moments.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "activation/enclosed_arithmetic.h"
#include "activation/node_values.h"
#include "activation/quadrature_rules.h"
#include "activation/strip_bound.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

// Relative error of a weight: the density at |x| <= 9.75, a rounded node, two products.
constexpr double kWeightError = 320 * kUnitRoundoff;
// Terms beyond the cut, relative to the integrand's polynomial bound at the cut.
constexpr double kCutErrorFactor = 2.6e-19;
// sup |f'| on the line of every smooth activation: erf, gelu.
constexpr double kSteepest = 1.1290;
// (E x^4)^{1/4}; bounds of discrete norms are enlarged by one per cent.
constexpr double kFourthNorm = 1.3161;
constexpr double kMargin = 1.01;
// e^-29 = 2.5e-13: the accuracy aimed at.
constexpr double kExponent = 29.0;

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

/// Fourth norm, over the nodes, of the error of a node's value.
double node_error(double deviation) {
  return kMargin * kUnitRoundoff * (kNodeError + kFourthNorm * kNodeErrorPerDeviation * deviation);
}

/// |f'| <= kSteepest, |f''| <= 1; |f| <= 1 if it is bounded at all.
Growth growth_on_line(F function, double deviation) {
  const bool bounded = function == F::Tanh || function == F::Sigmoid || function == F::Erf;
  return {deviation, {0.0, bounded ? 1.0 : INFINITY, kSteepest, 1.0}, node_error(deviation)};
}

double dot(const NodeArray& a, const NodeArray& b) { return a.matrix().dot(b.matrix()); }

/// The sums over the nodes of one rule, for one neuron.
class NodeSums {
 public:
  NodeSums(const WeightedNodes& rule, const NodeValues& g, const RuleError& rule_error, double mean,
           double deviation)
      : rule_(rule), g_(g), rule_error_(rule_error), mean_(mean), deviation_(deviation) {
    const double s = deviation;
    value_error_ = node_error(deviation);
    sum_error_ = kMargin * (rounding_gamma(rule.nodes.size() + 16) + kWeightError);
    fourth_norm_ = kMargin * kFourthNorm * kSteepest * s + value_error_;
  }

  GaussianMoments moments() {
    project();
    const Enclosed center = g_.line ? exactly(g_.center) + exactly(mean_) : exactly(g_.center);
    GaussianMoments m;
    m.mean = center + mean_of_g_;
    m.slope = g_.line ? slope_of_g_ + exactly(deviation_) : slope_of_g_;
    fill_residual(m);
    // Of d = a - center: E d^2 = (E d)^2 + c_1^2 + T^2.
    const Enclosed square_of_d = square(mean_of_g_) + square(m.slope) + m.residual;
    m.second = nonnegative(square(center) + 2.0 * (center * mean_of_g_) + square_of_d);
    fill_square(m, center, 2.0 * (center * mean_of_g_) + square_of_d);
    return m;
  }

 private:
  [[nodiscard]] double largest_difference(const Growth& growth, double x) const {
    return growth.difference(x) + (g_.line ? deviation_ * x : 0.0);
  }

  /// E g and E[g x].
  void project() {
    const double norm = kMargin * std::sqrt(dot(rule_.weights, g_.values.square()));
    const double rounding = kMargin * value_error_ + sum_error_ * norm;
    const auto bound = [](const Growth& growth, double x) { return growth.difference(x); };
    const auto slope_bound = [](const Growth& growth, double x) { return x * growth.difference(x); };
    mean_of_g_ = {dot(rule_.weights, g_.values), rounding + rule_error_(bound)};
    slope_of_g_ = {dot(rule_.first_weights, g_.values), rounding + rule_error_(slope_bound)};
    remainder_error_ = kMargin * value_error_ + 9 * kUnitRoundoff * norm;
  }

  void fill_residual(GaussianMoments& m) const {
    const NodeArray rest = g_.values - mean_of_g_.value - slope_of_g_.value * rule_.nodes;
    const double square = dot(rule_.weights, rest.square());
    const double norm = kMargin * std::sqrt(square);
    const auto bound = [&](const Growth& growth, double x) {
      const double crude =
          growth.difference(x) + std::abs(mean_of_g_.value) + std::abs(slope_of_g_.value) * x;
      return std::min(crude, growth.remainder(x) + mean_of_g_.error + slope_of_g_.error * x);
    };
    const auto square_bound = [&](const Growth& growth, double x) {
      return bound(growth, x) * bound(growth, x);
    };
    const auto curvature_bound = [&](const Growth& growth, double x) {
      return bound(growth, x) * (x * x + 1.0);
    };
    const double projection = mean_of_g_.error * mean_of_g_.error + slope_of_g_.error * slope_of_g_.error;
    m.residual = {square, safe_error(rule_error_(square_bound) +
                                     kMargin * (2.0 * norm + remainder_error_) * remainder_error_ +
                                     sum_error_ * square + projection)};
    m.curvature = {dot(rule_.curvature_weights, rest),
                   safe_error(rule_error_(curvature_bound) + kMargin * remainder_error_ + sum_error_ * norm)};
  }

  /// E[a^2 x] and Var(a^2) from d = a - center and q = a^2 - center^2 = d (2 center + d); `mean_of_q` is E q.
  void fill_square(GaussianMoments& m, const Enclosed& center, const Enclosed& mean_of_q) const {
    NodeArray d = g_.values;
    if (g_.line) d += deviation_ * rule_.nodes;
    const double norm = kMargin * std::sqrt(dot(rule_.weights, d.square()));
    const double epsilon = kMargin * value_error_;
    const auto third_bound = [&](const Growth& growth, double x) {
      const double difference = largest_difference(growth, x);
      return x * difference * difference;
    };
    const double rounding = epsilon * (2.0 * norm + epsilon) + sum_error_ * fourth_norm_ * norm;
    const Enclosed third = {dot(rule_.first_weights, d.square()),
                            safe_error(rule_error_(third_bound) + kMargin * kFourthNorm * rounding)};
    m.square_slope = 2.0 * (center * m.slope) + third;

    const double twice = 2.0 * std::abs(center.value);
    const NodeArray q = d * (2.0 * center.value + d) - mean_of_q.value;
    const double square = dot(rule_.weights, q.square());
    const double q_error =
        kMargin * (epsilon * (twice + 2.0 * fourth_norm_ + epsilon) + 2.0 * center.error * norm +
                   8 * kUnitRoundoff * (twice * norm + fourth_norm_ * fourth_norm_));
    const auto bound = [&](const Growth& growth, double x) {
      const double difference = largest_difference(growth, x);
      const double deviation_of_q = difference * (twice + difference) + std::abs(mean_of_q.value);
      return deviation_of_q * deviation_of_q;
    };
    m.square_variance = {
        square, safe_error(rule_error_(bound) + (2.0 * kMargin * std::sqrt(square) + q_error) * q_error +
                           sum_error_ * square + mean_of_q.error * mean_of_q.error)};
  }

  const WeightedNodes& rule_;
  const NodeValues& g_;
  RuleError rule_error_;
  double mean_, deviation_;
  double value_error_ = 0.0;      // fourth norm of the error of a node's value
  double sum_error_ = 0.0;        // relative: weights and summation
  double fourth_norm_ = 0.0;      // of g and of d
  double remainder_error_ = 0.0;  // root mean square
  Enclosed mean_of_g_, slope_of_g_;
};

/// |Im z| that panels may use, and where the function differs from its limits by a unit of roundoff or more
/// (V.3).
ActiveZone active_zone(F function, double half_width) {
  const double panel_width = 2.0 * half_width / (0.5 * (kEllipse - 1.0 / kEllipse));
  switch (function) {
    case F::Tanh:
      return {-20.0, 20.0, panel_width};
    case F::Erf:
      return {-6.2, 6.2, panel_width};
    case F::Gelu:
      return {-9.0, 9.0, panel_width};
    case F::Elu:
      return {-40.0, 0.0, 2.0};
    default:
      return {-44.0, 44.0, panel_width};
  }
}

StripBound panel_bound(F function) {
  switch (function) {
    case F::Elu:
      return {0.0, INFINITY, 4.1, 3.1};
    case F::Tanh:
      return strip_bound(function, 1.0);
    case F::Erf:
    case F::Gelu:
      return strip_bound(function, 1.5);
    default:
      return strip_bound(function, 2.0);
  }
}

GaussianMoments panel_moments(const Activation& activation, double mean, double deviation) {
  StripBound strip = panel_bound(activation.function());
  WeightedNodes rule;
  place_panels(active_zone(activation.function(), strip.half_width), mean, deviation, rule);
  // From the middle of a panel, reached with the real slope, an ellipse extends by 1.6 at most (V.3).
  strip.slope = kSteepest + 0.15 * strip.slope;
  strip.value = INFINITY;
  NodeValues g;
  evaluate_nodes(activation, mean, deviation, rule.nodes, g);
  const RuleError error{kPanelErrorFactor,
                        kPanelRadius,
                        {deviation, strip, node_error(deviation)},
                        growth_on_line(activation.function(), deviation)};
  return NodeSums(rule, g, error, mean, deviation).moments();
}

/// The longest step with which the residual and the variance of the square reach the accuracy aimed at. A
/// guess: what is reached is computed afterwards.
double wanted_step(const Growth& growth, double half_width, double radius, double center) {
  const double s = growth.deviation;
  const double scale = std::isfinite(growth.strip.value) ? std::min(1.0, s) : s;
  const double difference = growth.difference(radius);
  const double rest = std::min(growth.remainder(radius), difference + scale * (1.0 + radius));
  const double for_residual = rest / std::min(scale, s * s);
  const double for_square = difference * (2.0 * center + difference) / (scale * (2.0 * center + scale));
  const double exponent =
      kExponent + 0.5 * half_width * half_width + 2.0 * std::log(std::max({1.0, for_residual, for_square}));
  return 2.0 * std::numbers::pi * half_width / exponent;
}

}  // namespace

GaussianMoments quadrature_moments(const Activation& activation, double mean, double deviation) {
  const F function = activation.function();
  if (function == F::Elu) return panel_moments(activation, mean, deviation);
  const Growth growth{deviation, strip_bound(function, favourable_half_width(function, deviation)),
                      node_error(deviation)};
  const double half_width = growth.strip.half_width / deviation;
  // E|x + i a|^k <= (a + (E|x|^k)^{1/k})^k for k <= 4.
  const double radius = half_width + kFourthNorm;
  const WeightedNodes* rule =
      trapezoid_rule(wanted_step(growth, half_width, radius, std::abs(activation(mean))));
  if (rule == nullptr) return panel_moments(activation, mean, deviation);
  NodeValues g;
  evaluate_nodes(activation, mean, deviation, rule->nodes, g);
  // 2 e^{a^2/2} / (e^{2 pi a/step} - 1), (V.4); the exponent is above kExponent.
  const double factor =
      kMargin * 2.0 * std::exp(half_width * (0.5 * half_width - 2.0 * std::numbers::pi / rule->step));
  const RuleError error{factor, radius, growth, growth_on_line(function, deviation)};
  return NodeSums(*rule, g, error, mean, deviation).moments();
}

}  // namespace mixcert
