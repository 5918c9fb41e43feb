// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rules of one neuron: docs/theory/stein.md (Y.3). Here constants and piecewise linear activations, whose
// kinks are ends of panels; smooth ones in smooth_nodes.cc.
#include "activation/neuron/neuron_nodes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "activation/activation_traits.h"
#include "activation/quadrature_rules.h"
#include "core/normal.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

// Panels of linear pieces: half-widths, half the height of their ellipses per half-width, how much the
// integrand may turn in one, and log(8 * 4^-32 / 0.75 * 9 * 0.4) (Y.3).
constexpr double kWidestHalf = 1.5;
constexpr double kNarrowestHalf = 0.1875;
constexpr double kEllipseHeight = 1.875;
constexpr double kMostTurn = 12.0;
constexpr double kLogWidePanels = -40.71;

}  // namespace

bool has_neuron_nodes(const Activation& activation) { return activation.traits().pieced() == nullptr; }

NeuronNodes::NeuronNodes(const SummandNeuron& neuron, const NodeDemand& demand)
    : neuron_(neuron), bound_(INFINITY) {
  const Activation& f = *neuron.activation;
  require(has_neuron_nodes(f),
          "neuron nodes: expected a function with one kink at zero or a smooth one, got " +
              std::string(to_string(f.function())));
  const double at_mean = f(neuron.mean);
  at_mean_ = enlarged(std::abs(at_mean)) + 1e-12;
  difference_at_mean_ = enlarged(std::abs(at_mean - neuron.center)) + 1e-12 * (1.0 + std::abs(at_mean));
  const PiecewiseLinear* linear = f.traits().linear();
  if (!(neuron.deviation > 0.0)) {
    place_constant();
  } else if (linear != nullptr) {
    place_linear(linear->left(f.slope()), 1.0, demand);
  } else {
    place_smooth(demand);
  }
}

void NeuronNodes::place_constant() {
  is_constant_ = true;
  const double value = (*neuron_.activation)(neuron_.mean);
  table_.resize(1, 3);
  table_ << 1.0, value - neuron_.center, value;
  value_error_ = largest_error_ =
      kUnitRoundoff * (64.0 + 64.0 * std::abs(value) + 4.0 * std::abs(neuron_.center));
}

/// Panels on either side of the kink; where the slope is zero one node of the side's mass.
void NeuronNodes::place_linear(double left, double right, const NodeDemand& demand) {
  const double s = neuron_.deviation;
  const double kink = std::clamp((0.0 - neuron_.mean) / s, -kCut, kCut);
  const double steepest = larger_or_nan(std::abs(left), std::abs(right));
  const auto reach_of = [&](double half_width) {
    const double moved = enlarged(kEllipseHeight * half_width * s * steepest);
    return NeuronReach{enlarged(steepest * s), moved, moved, INFINITY};
  };
  double half_width = kWidestHalf;
  while (half_width > kNarrowestHalf && growth_for(reach_of(half_width), demand) > kMostTurn) {
    half_width *= 0.5;
  }
  std::vector<Eigen::ArrayXd> weights, nodes;
  std::vector<double> slopes;
  for (const bool is_right : {false, true}) {
    const double slope = is_right ? right : left;
    const double lower = is_right ? kink : -kCut;
    const double upper = is_right ? kCut : kink;
    if (!(lower < upper)) continue;
    WeightedNodes rule;
    if (slope == 0.0) {
      rule.weights = NodeArray::Constant(1, normal_mass(lower, upper));
      rule.nodes = NodeArray::Zero(1);
    } else {
      place_equal_panels(lower, upper, 2.0 * half_width, rule);
    }
    weights.emplace_back(rule.weights);
    nodes.emplace_back(rule.nodes);
    slopes.push_back(slope);
  }
  difference_at_mean_ = at_mean_ = 0.0;
  Eigen::Index count = 0;
  for (const Eigen::ArrayXd& side : nodes) count += side.size();
  table_.resize(count, 3);
  Eigen::Index at = 0;
  for (std::size_t side = 0; side < nodes.size(); ++side) {
    const double slope = slopes[side];
    const double base = slope * neuron_.mean - neuron_.center;
    const Eigen::Index size = nodes[side].size();
    table_.col(0).segment(at, size) = weights[side];
    table_.col(1).segment(at, size) = (slope * s) * nodes[side] + base;
    table_.col(2).segment(at, size) = slope * (neuron_.mean + s * nodes[side]);
    at += size;
    // Of the branches that have nodes, continued to the mean.
    difference_at_mean_ = larger_or_nan(difference_at_mean_, enlarged(std::abs(base)));
    at_mean_ = larger_or_nan(at_mean_, enlarged(std::abs(slope * neuron_.mean)));
  }
  const double sizes = 8.0 * (steepest * std::abs(neuron_.mean) + std::abs(neuron_.center));
  // A misplaced kink changes the value by less than 40 u s times the steeper slope.
  value_error_ = enlarged(kUnitRoundoff * (96.0 * steepest * s + sizes));
  largest_error_ = enlarged(kUnitRoundoff * (800.0 * steepest * s + sizes));
  const double height = kEllipseHeight * half_width;
  log_rule_error_ = kLogWidePanels + 0.5 * height * height;
  reaches_ = NeuronReaches(reach_of(half_width));
}

void NeuronNodes::set_values(const NodeArray& nodes, const NodeArray& weights) {
  const double s = neuron_.deviation;
  NodeValues g;
  evaluate_nodes(*neuron_.activation, neuron_.mean, s, nodes, g);
  const double offset = g.line ? g.center + neuron_.mean : g.center;
  const double base = offset - neuron_.center;
  table_.resize(nodes.size(), 3);
  table_.col(0) = weights;
  table_.col(1) = g.values + base;
  if (g.line) table_.col(1) += s * nodes;
  table_.col(2) = table_.col(1) + neuron_.center;
  const double sizes =
      8.0 * (std::abs(g.center) + (g.line ? std::abs(neuron_.mean) : 0.0) + std::abs(neuron_.center));
  value_error_ = enlarged(kUnitRoundoff * (128.0 + 96.0 * s + sizes));
  largest_error_ = enlarged(kUnitRoundoff * (128.0 + 1000.0 * s + sizes));
}

}  // namespace mixcert
