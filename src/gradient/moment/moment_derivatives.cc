// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.60). Everything is a sum over the nodes of w f'(z_k) times what is paired with
// it; x h_p = sqrt(p+1) h_{p+1} + sqrt(p) h_{p-1} gives the derivatives in s from those in m.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "activation/hermite_coefficients.h"
#include "activation/quadrature_rules.h"
#include "gradient/moment/moment_gradient.h"

namespace mixcert {
namespace {

// h_25 phi is below 1e-16 of its largest value beyond.
constexpr double kReach = 12.0;
// The poles of tanh, the nearest of all activations, are this far from the real line.
constexpr double kPoleDistance = 0.5 * std::numbers::pi;
constexpr double kFinestPanel = 1e-6;
constexpr double kWidestPanelHere = 1.0;
// Below, strips are wider than the rules were made for.
constexpr double kLeastDeviation = 1e-3;

/// Nodes, weighted slopes w f' and centred values a - f(m) of one neuron.
struct Samples {
  const HermiteRule* table = nullptr;  ///< the rule of the forward pass, where it has one
  NodeArray nodes;
  NodeArray slopes;    ///< f'
  NodeArray weights;   ///< w
  NodeArray weighted;  ///< w f'
  NodeArray values;    ///< a

  /// Without a rule of coefficients panels are used.
  Samples(const Activation& activation, double mean, double deviation,
          const HermiteRule* rule_of_coefficients)
      : table(rule_of_coefficients) {
    if (table != nullptr) {
      nodes = table->nodes;
      weights = table->weights;
    } else {
      WeightedNodes rule;
      if (const Pieced* pieced = activation.traits().pieced()) {
        const Cuts ends = pieced->panel_ends(activation.parameters());
        place_cut_panels(ends.begin(), ends.end(), mean, deviation, kReach, rule);
      } else {
        const double finest = std::clamp(kPoleDistance / deviation, kFinestPanel, kWidestPanelHere);
        place_graded_panels(-mean / deviation, finest, kReach, rule);
      }
      nodes = rule.nodes;
      weights = rule.weights;
    }
    evaluate_slopes(activation, mean, deviation, nodes, slopes);
    NodeValues shifted;
    evaluate_nodes(activation, mean, deviation, nodes, shifted);
    values = shifted.values + shifted.center;
    if (shifted.line) values += mean + deviation * nodes;
    weighted = weights * slopes;
  }

  /// (E[f' u], E[f' x u]).
  [[nodiscard]] Eigen::RowVector2d paired(const NodeArray& u) const {
    const NodeArray product = weighted * u;
    return {product.sum(), (product * nodes).sum()};
  }
  [[nodiscard]] double expectation(const NodeArray& u) const { return (weights * u).sum(); }
};

/// E[f' h_p], p = 0 .. kHermiteOrder + 1.
std::array<double, kHermiteOrder + 2> slope_coefficients(const Samples& samples) {
  std::array<double, kHermiteOrder + 2> result{};
  if (samples.table != nullptr) {
    Eigen::Map<Vector>(result.data(), kTabulatedOrders).noalias() =
        samples.table->weighted.transpose() * samples.slopes.matrix();
    return result;
  }
  NodeArray before = NodeArray::Zero(samples.nodes.size());
  NodeArray now = samples.weighted;
  for (std::size_t p = 0; p < result.size(); ++p) {
    result[p] = now.sum();
    const double root = std::sqrt(static_cast<double>(p));
    const double next = 1.0 / std::sqrt(static_cast<double>(p + 1));
    NodeArray after = (samples.nodes * now - root * before) * next;
    before = std::move(now);
    now = std::move(after);
  }
  return result;
}

}  // namespace

HermiteDerivatives hermite_derivatives(const Activation& activation, double mean, double deviation) {
  const Analytic* analytic = deviation > kLeastDeviation ? activation.traits().analytic() : nullptr;
  const Samples samples(activation, mean, deviation,
                        analytic != nullptr ? hermite_rule(*analytic, deviation) : nullptr);
  const auto slopes = slope_coefficients(samples);
  HermiteDerivatives result;
  for (std::size_t p = 0; p <= kHermiteOrder; ++p) {
    const double below = p == 0 ? 0.0 : std::sqrt(static_cast<double>(p)) * slopes[p - 1];
    result.coefficients(static_cast<Index>(p), 0) = slopes[p];
    result.coefficients(static_cast<Index>(p), 1) =
        std::sqrt(static_cast<double>(p + 1)) * slopes[p + 1] + below;
  }
  const double center = samples.expectation(samples.values);
  result.variance = 2.0 * samples.paired(samples.values - center);
  // d/dm E g = E[g x] / s and d/ds E g = E[g (x^2 - 1)] / s, g = f'^2, whatever the kinks of f'.
  const NodeArray energy = samples.slopes.square();
  const double s = deviation;
  result.slope_energy = {s * samples.expectation(energy * samples.nodes),
                         2.0 * s * samples.expectation(energy) +
                             s * samples.expectation(energy * (samples.nodes.square() - 1.0))};
  return result;
}

MomentDerivatives moment_derivatives(const Activation& activation, double mean, double deviation) {
  // Fourth powers of entire functions grow faster than the coefficients' rules allow for.
  const Samples samples(activation, mean, deviation, nullptr);
  const NodeArray& x = samples.nodes;
  const NodeArray& a = samples.values;
  MomentDerivatives result;
  result.mean = samples.paired(NodeArray::Ones(x.size()));
  result.slope = samples.paired(x);
  result.curvature = samples.paired((x.square() - 1.0) * std::numbers::sqrt2 * 0.5);
  const NodeArray centred = a - samples.expectation(a);
  const double slope = samples.expectation(centred * x);
  result.residual = 2.0 * samples.paired(centred) - 2.0 * slope * result.slope;
  result.second = 2.0 * samples.paired(a);
  result.square_slope = 2.0 * samples.paired(a * x);
  const NodeArray squares = a.square();
  result.square_variance = 4.0 * samples.paired(a * (squares - samples.expectation(squares)));
  return result;
}

}  // namespace mixcert
