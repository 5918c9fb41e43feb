// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Nodes and bounds of their rules: (V.3) to (V.5). What becomes of the values at the nodes: node_sums.h.
#include "activation/quadrature_moments.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <variant>

#include "activation/enclosed_arithmetic.h"
#include "activation/node_sums.h"
#include "activation/quadrature_rules.h"
#include "activation/strip_bound.h"

namespace mixcert {
namespace {

// e^-28 = 7e-13: the accuracy aimed at.
constexpr double kExponent = 28.0;

/// |f'| <= kSteepest, |f''| <= 1; |f| <= 1 if it is bounded at all.
Growth growth_on_line(const Smooth& function, double deviation) {
  return {deviation, {0.0, function.limits.get().largest(), kSteepest, 1.0}, node_error(deviation)};
}

/// The moments of a smooth function from its values at the nodes.
GaussianMoments sums_of_smooth(const WeightedNodes& rule, const NodeValues& g, const RuleError& error,
                               double mean, double deviation) {
  const Enclosed center = g.line ? exactly(g.center) + exactly(mean) : exactly(g.center);
  return NodeSums(rule, g, error, center, deviation, node_error(deviation), kSteepest).moments();
}

/// Where panels lie, and bounds in their ellipses (V.3).
struct PanelDomain {
  ActiveZone zone;
  StripBound bound;
};

PanelDomain panel_domain(const Analytic& function) {
  return {panel_zone(function), strip_bound(function, function.panel_half_width)};
}

PanelDomain panel_domain(const LeftAnalytic& function) { return {function.zone, function.panel_bound}; }

GaussianMoments panel_moments(const Activation& activation, double mean, double deviation) {
  const Smooth& function = *activation.traits().smooth();
  const PanelDomain domain =
      std::visit([](const auto& of_kind) { return panel_domain(of_kind); }, function.domain.get());
  StripBound strip = domain.bound;
  WeightedNodes rule;
  place_panels(domain.zone, mean, deviation, rule);
  // From the middle of a panel, reached with the real slope, an ellipse extends by 1.6 at most (V.3).
  strip.slope = kSteepest + 0.15 * strip.slope;
  strip.value = INFINITY;
  NodeValues g;
  evaluate_nodes(activation, mean, deviation, rule.nodes, g);
  const RuleError error{kPanelErrorFactor,
                        kPanelRadius,
                        {deviation, strip, node_error(deviation)},
                        growth_on_line(function, deviation)};
  return sums_of_smooth(rule, g, error, mean, deviation);
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
  const Analytic* function = activation.traits().analytic();
  if (function == nullptr) return panel_moments(activation, mean, deviation);
  const Growth growth{deviation, strip_bound(*function, favourable_half_width(*function, deviation)),
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
  const RuleError error{factor, radius, growth, growth_on_line(*activation.traits().smooth(), deviation)};
  return sums_of_smooth(*rule, g, error, mean, deviation);
}

}  // namespace mixcert
