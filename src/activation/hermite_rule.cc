// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The normalised polynomials come from their three-term recurrence, in long double where that has more
// digits: its rounding, bounded by the same recurrence with all signs positive, grows with the order and is
// amplified by every later use.
#include "activation/hermite_rule.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "activation/strip_bound.h"

namespace mixcert {
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
