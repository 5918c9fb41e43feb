// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.2). The normalised polynomials h_p = He_p / sqrt(p!) come from their
// three-term recurrence, in long double where that has more digits: its rounding, bounded by the same
// recurrence with all signs positive, grows with the order and is amplified by every later use.
#include "activation/hermite_coefficients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "activation/enclosed_arithmetic.h"
#include "activation/node_values.h"
#include "activation/quadrature_moments.h"
#include "activation/strip_bound.h"
#include "mixcert/core/normal.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

// Beyond the last zero of h_24 by far: h_p phi is below 1e-20 of the integrand's scale there.
constexpr double kHermiteCut = 13.0;
constexpr double kBeyondCut = 1e-20;
constexpr double kSteepest = 1.1290;
constexpr double kFourthNorm = 1.3161;
constexpr double kMargin = 1.01;
constexpr double kExponent = 36.0;
// Relative error of a weight at |x| <= 13.9, as in (V.6).
constexpr double kWeightError = 384 * kUnitRoundoff;
// Steps are multiples of 2^-12, so that nodes are exact.
constexpr int kLevels = 38;
constexpr double kStepUnit = 4096.0;

using LongArray = Eigen::Array<long double, Eigen::Dynamic, 1>;

/// n steps of the recurrence: gamma_{8n} in the precision it runs in.
double recurrence_error(Index steps) {
  const double unit = 0.5 * static_cast<double>(std::numeric_limits<long double>::epsilon());
  const double sum = 8.0 * static_cast<double>(steps) * unit;
  return sum / (1.0 - sum);
}

/// One trapezoidal rule: weights times polynomials, and the norms of the polynomials with positive signs.
struct HermiteRule {
  double step = 0.0;
  NodeArray nodes;
  NodeArray weights;
  Matrix weighted;  ///< entry (k, p): w_k h_p(x_k)
  Vector size;      ///< entry p: (sum_k w_k h_p(x_k)^2)^{1/2}
  Vector majorant;  ///< entry p: (sum_k w_k hbar_p(x_k)^2)^{1/2}
};

HermiteRule make_rule(int level) {
  HermiteRule rule;
  rule.step = std::floor(0.8 * std::exp2(-level / 8.0) * kStepUnit) / kStepUnit;
  const int half = static_cast<int>(std::ceil(kHermiteCut / rule.step));
  if (2 * half + 1 > kMostNodes) return rule;
  rule.nodes.resize(2 * half + 1);
  for (int k = -half; k <= half; ++k) rule.nodes(k + half) = k * rule.step;
  constexpr double kDensityAtZero = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  rule.weights = rule.step * kDensityAtZero * (-0.5 * rule.nodes.square()).exp();
  rule.weighted.resize(2 * half + 1, kHermiteOrder + 1);
  rule.size.resize(kHermiteOrder + 1);
  rule.majorant.resize(kHermiteOrder + 1);
  const LongArray nodes = rule.nodes.cast<long double>();
  LongArray before = LongArray::Zero(2 * half + 1);
  LongArray now = LongArray::Ones(2 * half + 1);
  LongArray positive_before = before;
  LongArray positive = now;
  for (Index p = 0; p <= kHermiteOrder; ++p) {
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
const HermiteRule* hermite_rule(double longest_step) {
  static const std::vector<HermiteRule> rules = [] {
    std::vector<HermiteRule> made;
    made.reserve(kLevels);
    for (int level = 0; level < kLevels; ++level) made.push_back(make_rule(level));
    return made;
  }();
  for (const HermiteRule& rule : rules) {
    if (rule.step <= longest_step) return rule.nodes.size() > 0 ? &rule : nullptr;
  }
  return nullptr;
}

/// c_p, p >= 3, by the trapezoidal rule; false where no rule is fine enough.
bool add_by_quadrature(const Activation& activation, double mean, double deviation,
                       HermiteExpansion& expansion) {
  const F function = activation.function();
  const double s = deviation;
  const StripBound strip = strip_bound(function, favourable_half_width(function, s));
  const double a = strip.half_width / s;
  const double root = std::sqrt(static_cast<double>(kHermiteOrder));
  const double exponent = kExponent + 0.5 * a * a + a * root;
  const HermiteRule* rule = hermite_rule(2.0 * std::numbers::pi * a / exponent);
  if (rule == nullptr) return false;
  NodeValues g;
  evaluate_nodes(activation, mean, s, rule->nodes, g);
  const double value_error = kUnitRoundoff * (kNodeError + kFourthNorm * kNodeErrorPerDeviation * s);
  const double norm = std::sqrt((rule->weights * g.values.square()).sum());
  const double growth = std::min(s * strip.slope * (a + kFourthNorm), strip.value + 1.0) + value_error;
  const double gamma = rounding_gamma(rule->nodes.size() + 8 * kHermiteOrder + 16) + kWeightError;
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

/// c_p = (right - left) s phi(t) h_{p-2}(t) / sqrt(p (p-1)), t = -m/s: f'' is a multiple of a delta function.
void add_closed_form(double left, double right, double mean, double deviation, HermiteExpansion& expansion) {
  const double t = -mean / deviation;
  const double above = normal_tail(t);
  const double below = normal_tail(-t);
  expansion.slope_energy =
      (1.0 + 1e-11) * deviation * deviation * (right * right * above + left * left * below);
  expansion.kinked = true;
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
      expansion.value(q + 2) = coefficient.value;
      squares += coefficient.error * coefficient.error;
    }
    const Enclosed after = (x * now - root_of(q) * before) * inverse_root_of(q + 1);
    before = now;
    now = after;
  }
  expansion.error += kMargin * std::sqrt(squares);
}

bool is_analytic(F function) {
  return function != F::Elu && function != F::Identity && function != F::Relu && function != F::LeakyRelu;
}

}  // namespace

HermiteExpansion hermite_expansion(const Activation& activation, double mean, double deviation) {
  const GaussianMoments moments = gaussian_moments(activation, mean, deviation);
  HermiteExpansion expansion;
  expansion.value = Vector::Zero(kHermiteOrder + 1);
  expansion.value.head(3) << moments.mean.value, moments.slope.value, moments.curvature.value;
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
  const F function = activation.function();
  const bool piecewise_linear = function == F::Relu || function == F::LeakyRelu;
  if (piecewise_linear) {
    add_closed_form(function == F::Relu ? 0.0 : activation.slope(), 1.0, mean, deviation, expansion);
  }
  if (piecewise_linear || function == F::Identity ||
      (is_analytic(function) && deviation >= kTinyDeviation &&
       add_by_quadrature(activation, mean, deviation, expansion))) {
    expansion.order = kHermiteOrder;
  } else {
    expansion.value.tail(kHermiteOrder - 2).setZero();
  }
  return expansion;
}

}  // namespace mixcert
