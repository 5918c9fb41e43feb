// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.2). The normalised polynomials h_p = He_p / sqrt(p!) come from their
// three-term recurrence.
#include "activation/hermite_coefficients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "activation/enclosed_arithmetic.h"
#include "activation/quadrature_moments.h"
#include "activation/quadrature_rules.h"
#include "activation/strip_bound.h"
#include "core/normal.h"

namespace mixcert {

namespace {

// What lies beyond the nodes of a HermiteRule, of the integrand's scale.
constexpr double kBeyondCut = 1e-20;
// Relative error of a weight at |x| <= 13.9, as in (V.6).
constexpr double kHermiteWeightError = 384 * kUnitRoundoff;

/// c_p, p >= 3, by the trapezoidal rule; false where no rule is fine enough.
bool add_by_quadrature(const Activation& activation, double mean, double deviation,
                       HermiteExpansion& expansion) {
  const Analytic& function = *activation.traits().analytic();
  const double s = deviation;
  const StripBound strip = strip_bound(function, favourable_half_width(function, s));
  const double a = strip.half_width / s;
  const HermiteRule* rule = hermite_rule(function, s);
  if (rule == nullptr) return false;
  NodeValues g;
  evaluate_nodes(activation, mean, s, rule->nodes, g);
  // Cauchy and Schwarz: sum w h_p e is at most the root mean square of e, and that e_4 (V.6).
  const double value_error = node_error(s);
  const double norm = std::sqrt((rule->weights * g.values.square()).sum());
  const double growth = std::min(s * strip.slope * (a + kFourthNorm), strip.value + 1.0) + value_error;
  const double gamma = rounding_gamma(rule->nodes.size() + 8 * kHermiteOrder + 16) + kHermiteWeightError;
  const double ratio = 2.0 * std::numbers::pi * a / rule->step;
  NodeArray slopes;
  evaluate_slopes(activation, mean, s, rule->nodes, slopes);
  const double energy = (rule->weights * slopes.square()).sum();
  const double energy_error =
      2.0 * std::exp(0.5 * a * a - ratio) * strip.slope * strip.slope + 1.3 * gamma + 256 * kUnitRoundoff;
  expansion.slope_energy = std::min(expansion.slope_energy, kMargin * s * s * energy_error + s * s * energy);
  double squares = 0.0;
  for (Index p = 3; p <= kHermiteOrder; ++p) {
    expansion.value(p) = rule->weighted.col(p).dot(g.values.matrix());
    const double strip_error =
        2.0 * std::exp(0.5 * a * a + a * std::sqrt(static_cast<double>(p)) - ratio) * growth;
    const double rounding = gamma * rule->size(p) + recurrence_error(p + 1) * rule->majorant(p);
    const double error =
        kMargin * (value_error + rounding * norm + strip_error + kBeyondCut * (2.0 + kSteepest * s));
    squares += error * error;
  }
  expansion.error += kMargin * std::sqrt(squares);
  return true;
}

/// A kink adds (right - left) s phi(t) h_{p-2}(t) / sqrt(p (p-1)) to c_p, p >= 3, t = (kink - m)/s: f'' is a
/// sum of multiples of delta functions.
void add_kink(double left, double right, double t, double deviation, HermiteExpansion& expansion) {
  // From 39 on the density is below the smallest double, and so is its product with any h_p, p <= 24.
  if (!(std::abs(t) < 39.0)) {
    expansion.error += 1e-300 * (1.0 + deviation);
    return;
  }
  const Enclosed x{t, safe_error(kUnitRoundoff * std::abs(t))};
  const double density = normal_density(t);
  const Enclosed scale = (deviation * (exactly(right) - exactly(left))) *
                         Enclosed{density, safe_error(8 * kUnitRoundoff * (t * t + 4.0) * density)};
  const auto root_of = [](Index p) {
    const double root = std::sqrt(static_cast<double>(p));
    return Enclosed{root, kUnitRoundoff * root};
  };
  const auto inverse_root_of = [](Index p) {
    const double inverse = 1.0 / std::sqrt(static_cast<double>(p));
    return Enclosed{inverse, 3 * kUnitRoundoff * inverse};
  };
  Enclosed before{0.0, 0.0};
  Enclosed now = scale;
  double squares = 0.0;
  for (Index q = 0; q + 2 <= kHermiteOrder; ++q) {
    const Enclosed coefficient = now * inverse_root_of((q + 1) * (q + 2));
    if (q > 0) {
      expansion.value(q + 2) += coefficient.value;
      squares += coefficient.error * coefficient.error;
    }
    const Enclosed after = (x * now - root_of(q) * before) * inverse_root_of(q + 1);
    before = now;
    now = after;
  }
  expansion.error += kMargin * std::sqrt(squares);
}

/// One kink, at zero.
void add_closed_form(double left, double right, double mean, double deviation, HermiteExpansion& expansion) {
  const double t = -mean / deviation;
  const double above = normal_tail(t);
  const double below = normal_tail(-t);
  expansion.slope_energy =
      (1.0 + 1e-11) * deviation * deviation * (right * right * above + left * left * below);
  expansion.kinked = true;
  add_kink(left, right, t, deviation, expansion);
}

/// Lines between several kinks. What adding their coefficients rounds is below an error of each kink's own.
void add_lines(const Activation& activation, double mean, double deviation, HermiteExpansion& expansion) {
  const Pieced& pieced = *activation.traits().pieced();
  const ActivationParameters& with = activation.parameters();
  const Cuts kinks = pieced.kinks(with);
  double energy = 0.0, before = -INFINITY, left = pieced.difference(0, 0.0, 1.0, with), jumps = 0.0;
  for (std::size_t i = 0; i <= kinks.size(); ++i) {
    const double t = i < kinks.size() ? (kinks[i] - mean) / deviation : INFINITY;
    energy += left * left * ((1.0 + 1e-9) * normal_mass(before, t) + 1e-14);
    if (i == kinks.size()) break;
    const double right = pieced.difference(i + 1, 0.0, 1.0, with);
    add_kink(left, right, t, deviation, expansion);
    jumps += std::abs(right - left);
    before = t;
    left = right;
  }
  // |phi h_q| < 1/2; two roundings of each of 22 sums.
  expansion.error += 64 * kUnitRoundoff * jumps * deviation;
  expansion.slope_energy = std::min(expansion.slope_energy, (1.0 + 1e-9) * deviation * deviation * energy);
}

}  // namespace

HermiteExpansion hermite_expansion(const Activation& activation, double mean, double deviation) {
  const GaussianMoments moments = gaussian_moments(activation, mean, deviation);
  HermiteExpansion expansion;
  expansion.value = Vector::Zero(kHermiteOrder + 1);
  expansion.value.head(3) << moments.mean.value, moments.slope.value, moments.curvature.value;
  expansion.moments = moments;
  expansion.mean = moments.mean;
  expansion.variance = nonnegative(square(moments.slope) + moments.residual);
  expansion.error = next_up(moments.slope.error + moments.curvature.error);
  expansion.order = 2;
  const double l = activation.lipschitz().upper;
  expansion.slope_energy = (1.0 + 1e-12) * l * l * deviation * deviation;
  if (!(deviation > 0.0)) {
    expansion.order = kHermiteOrder;
    return expansion;
  }
  const PiecewiseLinear* linear = activation.traits().linear();
  if (linear != nullptr && linear->has_kink) {
    add_closed_form(linear->left(activation.slope()), 1.0, mean, deviation, expansion);
  }
  const Pieced* pieced = activation.traits().pieced();
  const bool has_lines = pieced != nullptr && pieced->is_linear;
  if (has_lines) add_lines(activation, mean, deviation, expansion);
  if (linear != nullptr || has_lines ||
      (activation.traits().analytic() != nullptr && deviation >= kTinyDeviation &&
       add_by_quadrature(activation, mean, deviation, expansion))) {
    expansion.order = kHermiteOrder;
  } else {
    expansion.value.tail(kHermiteOrder - 2).setZero();
  }
  return expansion;
}

// The normalised polynomials come from their three-term recurrence, in long double where that has more
// digits: its rounding, bounded by the same recurrence with all signs positive, grows with the order and is
// amplified by every later use.

namespace {

using LongArray = Eigen::Array<long double, Eigen::Dynamic, 1>;

// Beyond the last zero of h_25 by far: h_p phi is below 1e-20 of the integrand's scale there.
constexpr double kHermiteCut = 13.0;
// A rule is fine enough when its error is below e^-36 of the integrand's growth.
constexpr double kHermiteExponent = 36.0;
// Steps are multiples of 2^-12, so that nodes are exact.
constexpr int kHermiteLevels = 38;
constexpr double kHermiteStepUnit = 4096.0;

HermiteRule make_rule(int level) {
  HermiteRule rule;
  rule.step = std::floor(0.8 * std::exp2(-level / 8.0) * kHermiteStepUnit) / kHermiteStepUnit;
  const int half = static_cast<int>(std::ceil(kHermiteCut / rule.step));
  if (2 * half + 1 > kMostNodes) return rule;
  rule.nodes.resize(2 * half + 1);
  for (int k = -half; k <= half; ++k) rule.nodes(k + half) = k * rule.step;
  constexpr double kDensityAtZero = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  rule.weights = rule.step * kDensityAtZero * (-0.5 * rule.nodes.square()).exp();
  rule.weighted.resize(2 * half + 1, kTabulatedOrders);
  rule.size.resize(kTabulatedOrders);
  rule.majorant.resize(kTabulatedOrders);
  const LongArray nodes = rule.nodes.cast<long double>();
  LongArray before = LongArray::Zero(2 * half + 1);
  LongArray now = LongArray::Ones(2 * half + 1);
  LongArray positive_before = before;
  LongArray positive = now;
  for (Index p = 0; p < kTabulatedOrders; ++p) {
    const NodeArray rounded = now.cast<double>();
    rule.weighted.col(p) = rule.weights * rounded;
    rule.size(p) = std::sqrt((rule.weights * rounded.square()).sum());
    rule.majorant(p) = std::sqrt((rule.weights * positive.cast<double>().square()).sum());
    const long double root = std::sqrt(static_cast<long double>(p));
    const long double next = 1.0L / std::sqrt(static_cast<long double>(p + 1));
    const LongArray after = (nodes * now - root * before) * next;
    const LongArray positive_after = (nodes.abs() * positive + root * positive_before) * next;
    before = now;
    now = after;
    positive_before = positive;
    positive = positive_after;
  }
  return rule;
}

/// The coarsest rule whose step is at most `longest_step`; null when it would need too many nodes.
const HermiteRule* coarsest_rule(double longest_step) {
  static const std::vector<HermiteRule> rules = [] {
    std::vector<HermiteRule> made;
    made.reserve(kHermiteLevels);
    for (int level = 0; level < kHermiteLevels; ++level) made.push_back(make_rule(level));
    return made;
  }();
  for (const HermiteRule& rule : rules) {
    if (rule.step <= longest_step) return rule.nodes.size() > 0 ? &rule : nullptr;
  }
  return nullptr;
}

}  // namespace

double recurrence_error(Index steps) {
  const double unit = 0.5 * static_cast<double>(std::numeric_limits<long double>::epsilon());
  const double sum = 8.0 * static_cast<double>(steps) * unit;
  return sum / (1.0 - sum);
}

const HermiteRule* hermite_rule(const Analytic& function, double deviation) {
  const double a = favourable_half_width(function, deviation) / deviation;
  const double root = std::sqrt(static_cast<double>(kHermiteOrder));
  return coarsest_rule(2.0 * std::numbers::pi * a / (kHermiteExponent + 0.5 * a * a + a * root));
}

}  // namespace mixcert
