// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rules and errors: docs/theory/stein.md (Y.3). Smooth activations take the trapezoidal rule (V.4) in the
// strip that allows the longest step; kinks, and strips too narrow for it, take panels (V.3).
#include "certify/line_nodes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "activation/node_values.h"
#include "activation/strip_bound.h"
#include "mixcert/core/normal.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

// e^-28: the accuracy aimed at; exponential moments are bounds only, and need less.
constexpr double kWantedExponent = 28.0;
constexpr double kWantedForMoments = 10.0;
// log(2 * 1.01) of (V.4), log(6e-18) of (V.3).
constexpr double kLogTrapezoid = 0.7032;
constexpr double kLogPanels = -39.65;
// Ellipses of panels reach this far from the middle of their panel, and from the line.
constexpr double kReach = 1.6;
constexpr double kHeight = 1.41;
// Panels of linear pieces: half-widths, half the height of their ellipses per half-width, how much the
// integrand may turn in one, and log(8 * 4^-32 / 0.75 * 9 * 0.4) (Y.3).
constexpr double kWidestHalf = 1.5;
constexpr double kNarrowestHalf = 0.1875;
constexpr double kEllipseHeight = 1.875;
constexpr double kMostTurn = 12.0;
constexpr double kLogWidePanels = -40.71;
// |f'| on the line of the smooth activations.
constexpr double kLineSlope = 1.1290;
constexpr double kLargestRadius = 1e3;
constexpr std::size_t kMostReaches = 5;
// The coarsest rule's step.
constexpr double kLongEnough = 0.8;

bool follows_line(F function) {
  return function == F::Gelu || function == F::Silu || function == F::Softplus || function == F::Elu;
}

/// Zone outside of which the function is linear up to a unit of roundoff, and the strip of its panels (V.3).
struct PanelStrip {
  ActiveZone zone;
  double slope;   ///< of f in the ellipses
  double height;  ///< |Im z| there
  double reach;   ///< |z - middle of the panel| there
};

PanelStrip panel_strip(F function, double deviation) {
  // Ellipses reach 1.125 half-widths beyond the kink.
  const double growth = 1.01 * std::exp(1.125 * std::min(0.75 * deviation, 1.0));
  if (function == F::Elu) return {{-40.0, 0.0, 2.0}, growth, 1.875, 2.125};
  const double width = function == F::Tanh ? 1.0 : function == F::Erf || function == F::Gelu ? 1.5 : 2.0;
  const double end = function == F::Tanh ? 20.0 : function == F::Erf ? 6.2 : function == F::Gelu ? 9.0 : 44.0;
  const double panel = 2.0 * width / (0.5 * (kEllipse - 1.0 / kEllipse));
  return {{-end, end, panel}, strip_bound(function, width).slope, width, 1.14 * width};
}

/// |Im f| in a strip: |Im tanh(x + iy)| = |sin 2y|/(cosh 2x + cos 2y) <= tan |y|.
double imaginary_part(F function, double width) {
  if (function == F::Tanh) return std::tan(width) * kSafety;
  if (function == F::Sigmoid) return 0.5 * std::tan(0.5 * width) * kSafety;
  return INFINITY;
}

/// sup |f'| around the mean.
struct LocalSlope {
  double on_line;      ///< |z - m| <= distance
  double sinh_square;  ///< of the point of that interval nearest to zero, or of half of it (sigmoid)
  F function;

  LocalSlope(const Activation& f, double m, double distance) : function(f.function()) {
    on_line = distance < INFINITY ? f.max_slope(m - distance, m + distance).upper : kLineSlope;
    const double nearest = std::max(0.0, std::abs(m) - distance) * (1.0 - 1e-9);
    const double sine = std::sinh(std::min(50.0, function == F::Sigmoid ? 0.5 * nearest : nearest));
    sinh_square = sine * sine * (1.0 - 1e-9);
  }
  /// |tanh'| = 1/(sinh^2 x + cos^2 y); infinite for functions without such a formula.
  [[nodiscard]] double in_strip(double width) const {
    if (function != F::Tanh && function != F::Sigmoid) return INFINITY;
    const double cosine = std::cos(function == F::Sigmoid ? 0.5 * width : width);
    return (function == F::Sigmoid ? 0.25 : 1.0) / (sinh_square + cosine * cosine) * kSafety;
  }
};

}  // namespace

LineNodes::LineNodes(const LineNeuron& neuron, double frequency, double order) : neuron_(neuron) {
  const Activation& f = *neuron.activation;
  const double at_mean = f(neuron.mean);
  at_mean_ = std::abs(at_mean) * kSafety + 1e-12;
  difference_at_mean_ = std::abs(at_mean - neuron.center) * kSafety + 1e-12 * (1.0 + std::abs(at_mean));
  bound_ = INFINITY;
  const F function = f.function();
  if (!(neuron.deviation > 0.0)) {
    place_constant();
  } else if (function == F::Identity || function == F::Relu || function == F::LeakyRelu) {
    place_linear(function == F::Identity ? 1.0 : function == F::Relu ? 0.0 : f.slope(), 1.0, frequency);
  } else {
    place_smooth(frequency, order);
  }
}

void LineNodes::place_constant() {
  is_constant_ = true;
  const double value = (*neuron_.activation)(neuron_.mean);
  weights_ = Eigen::ArrayXd::Ones(1);
  values_ = Eigen::ArrayXd::Constant(1, value);
  differences_ = Eigen::ArrayXd::Constant(1, value - neuron_.center);
  value_error_ = largest_error_ =
      kUnitRoundoff * (64.0 + 64.0 * std::abs(value) + 4.0 * std::abs(neuron_.center));
}

/// Panels on either side of the kink; where the slope is zero one node of the side's mass.
void LineNodes::place_linear(double left, double right, double frequency) {
  const double s = neuron_.deviation;
  const double kink = std::clamp((0.0 - neuron_.mean) / s, -kCut, kCut);
  const double steepest = std::max(std::abs(left), std::abs(right));
  const double turn = frequency * std::abs(neuron_.weight) * s * steepest;
  double half_width = kWidestHalf;
  while (half_width > kNarrowestHalf && turn * kEllipseHeight * half_width > kMostTurn) half_width *= 0.5;
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
    weights.push_back(rule.weights);
    nodes.push_back(rule.nodes);
    slopes.push_back(slope);
  }
  difference_at_mean_ = at_mean_ = 0.0;
  Eigen::Index count = 0;
  for (const Eigen::ArrayXd& side : nodes) count += side.size();
  weights_.resize(count);
  differences_.resize(count);
  values_.resize(count);
  Eigen::Index at = 0;
  for (std::size_t side = 0; side < nodes.size(); ++side) {
    const double slope = slopes[side];
    const double base = slope * neuron_.mean - neuron_.center;
    const Eigen::Index size = nodes[side].size();
    weights_.segment(at, size) = weights[side];
    differences_.segment(at, size) = (slope * s) * nodes[side] + base;
    values_.segment(at, size) = slope * (neuron_.mean + s * nodes[side]);
    at += size;
    // Of the branches that have nodes, continued to the mean.
    difference_at_mean_ = std::max(difference_at_mean_, std::abs(base) * kSafety);
    at_mean_ = std::max(at_mean_, std::abs(slope * neuron_.mean) * kSafety);
  }
  const double sizes = 8.0 * (steepest * std::abs(neuron_.mean) + std::abs(neuron_.center));
  // A misplaced kink changes the value by less than 40 u s times the steeper slope.
  value_error_ = kUnitRoundoff * (96.0 * steepest * s + sizes) * kSafety;
  largest_error_ = kUnitRoundoff * (800.0 * steepest * s + sizes) * kSafety;
  const double height = kEllipseHeight * half_width;
  log_rule_error_ = kLogWidePanels + 0.5 * height * height;
  const double moved = height * s * steepest * kSafety;
  reaches_ = {{steepest * s * kSafety, moved, moved, INFINITY}};
}

double LineNodes::radius_for(const Reach& reach, double frequency, double order) const {
  const double alpha = frequency * std::abs(neuron_.weight);
  const double beta = 0.5 * std::pow(frequency * neuron_.noise, 2);
  const GrowthExponent g = growth(order, reach);
  const double for_moments = (g.linear + std::sqrt(2.0 * g.peak() + 60.0)) / (1.0 - 2.0 * g.square);
  const double for_transform = std::sqrt(2.0 * reach.imaginary * (alpha + beta * reach.imaginary) + 60.0);
  const double radius = std::max({11.0, for_moments, for_transform});
  return radius < kLargestRadius ? radius : INFINITY;
}

template <class ReachOf>
void LineNodes::shrink(const ReachOf& reach_of, double frequency, double order) {
  reaches_ = {reach_of(INFINITY)};
  while (reaches_.size() < kMostReaches) {
    const double radius = radius_for(reaches_.front(), frequency, order);
    if (!(radius < 0.9 * reaches_.front().radius)) break;
    Reach inner = reach_of(radius);
    inner.radius = radius;
    const bool gains =
        inner.excursion < 0.9 * reaches_.front().excursion || inner.slope < 0.9 * reaches_.front().slope;
    if (!gains) break;
    reaches_.insert(reaches_.begin(), inner);
  }
}

void LineNodes::place_smooth(double frequency, double order) {
  const Activation& f = *neuron_.activation;
  if (f.function() == F::Elu) return place_smooth_panels(frequency, order);
  const double s = neuron_.deviation;
  const double alpha = frequency * std::abs(neuron_.weight);
  const double beta = 0.5 * std::pow(frequency * neuron_.noise, 2);
  const double widest = favourable_half_width(f.function(), s);
  const auto shrink_in = [&](double width) {
    const StripBound strip = strip_bound(f.function(), width);
    bound_ = strip.value;
    shrink(
        [&](double radius) {
          const LocalSlope local(f, neuron_.mean, radius * s);
          const double moved = std::min(strip.slope, local.in_strip(width)) * width * kSafety;
          return Reach{std::min(kLineSlope, local.on_line) * s,
                       std::min(moved, imaginary_part(f.function(), width)), moved};
        },
        frequency, order);
  };
  double longest = 0.0;
  double half_width = 0.0;
  for (const double share : {1.0, 0.75, 0.5}) {
    shrink_in(share * widest);
    const Reach& near = reaches_.front();
    const double a = share * widest / s;
    const double wanted =
        0.5 * a * a + std::max(kWantedExponent + near.imaginary * (alpha + beta * near.imaginary),
                               kWantedForMoments + growth(order, near).peak());
    const double step = 2.0 * std::numbers::pi * a / wanted;
    if (step > longest) {
      longest = step;
      half_width = share * widest;
    }
    if (longest > kLongEnough) break;
  }
  const WeightedNodes* rule = longest > 0.0 ? trapezoid_rule(longest) : nullptr;
  if (rule == nullptr) return place_smooth_panels(frequency, order);
  shrink_in(half_width);
  const double a = half_width / s;
  log_rule_error_ = kLogTrapezoid + a * (0.5 * a - 2.0 * std::numbers::pi / rule->step);
  weights_ = rule->weights;
  set_values(rule->nodes);
}

void LineNodes::place_smooth_panels(double frequency, double order) {
  const Activation& f = *neuron_.activation;
  const PanelStrip strip = panel_strip(f.function(), neuron_.deviation);
  const double s = neuron_.deviation;
  WeightedNodes rule;
  place_panels(strip.zone, neuron_.mean, s, rule);
  const double beyond = follows_line(f.function()) ? 1.0 : 0.0;
  bound_ = follows_line(f.function()) ? INFINITY : strip_bound(f.function(), strip.height).value;
  shrink(
      [&](double radius) {
        const LocalSlope local(f, neuron_.mean, radius * s);
        const double on_line = std::min(kLineSlope, local.on_line);
        const double in_strip = std::min(strip.slope, local.in_strip(strip.height));
        return Reach{on_line * s,
                     std::max(in_strip * std::min(kHeight * s, strip.height), beyond * kHeight * s) * kSafety,
                     (kReach * s * on_line +
                      std::max(in_strip * std::min(kReach * s, strip.reach), beyond * kReach * s)) *
                         kSafety};
      },
      frequency, order);
  log_rule_error_ = kLogPanels;
  weights_ = rule.weights;
  set_values(rule.nodes);
}

void LineNodes::set_values(const NodeArray& nodes) {
  const double s = neuron_.deviation;
  NodeValues g;
  evaluate_nodes(*neuron_.activation, neuron_.mean, s, nodes, g);
  const double offset = g.line ? g.center + neuron_.mean : g.center;
  const double base = offset - neuron_.center;
  differences_ = g.values + base;
  if (g.line) differences_ += s * nodes;
  values_ = differences_ + neuron_.center;
  const double sizes =
      8.0 * (std::abs(g.center) + (g.line ? std::abs(neuron_.mean) : 0.0) + std::abs(neuron_.center));
  value_error_ = kUnitRoundoff * (128.0 + 96.0 * s + sizes) * kSafety;
  largest_error_ = kUnitRoundoff * (128.0 + 1000.0 * s + sizes) * kSafety;
}

}  // namespace mixcert
