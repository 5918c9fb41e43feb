// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tables of the trapezoidal rule are made once, at the first use; panels depend on the neuron and are placed
// anew.
#include "activation/quadrature_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "activation/activation_traits.h"

namespace mixcert {

namespace {

// Steps 0.8 * 2^{-level/8}, rounded to multiples of 2^-12 so that nodes k * step are exact.
constexpr int kLevels = 38;
constexpr double kLongestStep = 0.8;
constexpr double kStepUnit = 4096.0;

// Positive nodes and weights of the 16-point Gauss-Legendre rule on [-1, 1].
constexpr int kHalfNodes = 8;
constexpr std::array<double, kHalfNodes> kNodes = {
    0.09501250983763744019, 0.2816035507792589132, 0.4580167776572273863, 0.6178762444026437484,
    0.7554044083550030339,  0.8656312023878317439, 0.9445750230732325761, 0.9894009349916499326};
constexpr std::array<double, kHalfNodes> kWeights = {
    0.1894506104550684963, 0.1826034150449235889,  0.1691565193950025382,  0.1495959888165767321,
    0.1246289712555338721, 0.09515851168249278481, 0.06225352393864789286, 0.02715245941175409485};

WeightedNodes make_trapezoid_rule(int level) {
  WeightedNodes rule;
  rule.step = std::floor(kLongestStep * std::exp2(-level / 8.0) * kStepUnit) / kStepUnit;
  const int half = static_cast<int>(std::ceil(kCut / rule.step));
  rule.nodes.resize(2 * half + 1);
  for (int k = -half; k <= half; ++k) rule.nodes(k + half) = k * rule.step;
  rule.weights = NodeArray::Constant(2 * half + 1, rule.step);
  rule.apply_density();
  return rule;
}

/// Appends equal panels over [lower, upper].
void add_panels(double lower, double upper, double widest, WeightedNodes& rule, Eigen::Index& count) {
  if (!(lower < upper)) return;
  const int panels = static_cast<int>(std::ceil((upper - lower) / widest));
  double left = lower;
  for (int j = 1; j <= panels; ++j) {
    const double right = j == panels ? upper : lower + (upper - lower) * j / panels;
    const double center = 0.5 * (left + right);
    const double half = 0.5 * (right - left);
    for (std::size_t i = 0; i < kHalfNodes; ++i) {
      rule.nodes(count) = center - half * kNodes[i];
      rule.weights(count++) = half * kWeights[i];
      rule.nodes(count) = center + half * kNodes[i];
      rule.weights(count++) = half * kWeights[i];
    }
    left = right;
  }
}

}  // namespace

void WeightedNodes::apply_density() {
  constexpr double kDensityAtZero = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  weights *= kDensityAtZero * (-0.5 * nodes.square()).exp();
  first_weights = weights * nodes;
  curvature_weights = weights * (nodes.square() - 1.0) * (0.5 * std::numbers::sqrt2);
}

const WeightedNodes* trapezoid_rule(double longest_step) {
  static const std::vector<WeightedNodes> rules = [] {
    std::vector<WeightedNodes> made;
    made.reserve(kLevels);
    for (int level = 0; level < kLevels; ++level) made.push_back(make_trapezoid_rule(level));
    return made;
  }();
  const auto fitting = std::find_if(rules.begin(), rules.end(),
                                    [&](const WeightedNodes& rule) { return rule.step <= longest_step; });
  return fitting == rules.end() ? nullptr : &*fitting;
}

void place_graded_panels(double center, double finest, double cut, WeightedNodes& rule) {
  rule.nodes.resize(kMostNodes);
  rule.weights.resize(kMostNodes);
  Eigen::Index count = 0;
  const double start = std::clamp(center, -cut, cut);
  for (const double side : {-1.0, 1.0}) {
    double width = finest;
    for (double left = start; side * left < cut;) {
      const double right = side * std::min(cut, side * (left + side * width));
      add_panels(std::min(left, right), std::max(left, right), 2.0 * width, rule, count);
      left = right;
      width = std::min(2.0 * width, kWidestPanel);
    }
  }
  rule.nodes.conservativeResize(count);
  rule.weights.conservativeResize(count);
  rule.apply_density();
}

void place_equal_panels(double lower, double upper, double widest, WeightedNodes& rule) {
  rule.nodes.resize(kMostNodes);
  rule.weights.resize(kMostNodes);
  Eigen::Index count = 0;
  add_panels(lower, upper, widest, rule, count);
  rule.nodes.conservativeResize(count);
  rule.weights.conservativeResize(count);
  rule.apply_density();
}

void place_panels(const ActiveZone& zone, double mean, double deviation, WeightedNodes& rule) {
  const double zone_begin = std::clamp((zone.lower - mean) / deviation, -kCut, kCut);
  const double zone_end = std::clamp((zone.upper - mean) / deviation, -kCut, kCut);
  rule.nodes.resize(kMostNodes);
  rule.weights.resize(kMostNodes);
  Eigen::Index count = 0;
  add_panels(-kCut, zone_begin, kWidestPanel, rule, count);
  add_panels(zone_begin, zone_end, std::min(kWidestPanel, zone.panel_width / deviation), rule, count);
  add_panels(zone_end, kCut, kWidestPanel, rule, count);
  rule.nodes.conservativeResize(count);
  rule.weights.conservativeResize(count);
  rule.apply_density();
}

void place_cut_panels(const double* begin, const double* end, double mean, double deviation, double cut,
                      WeightedNodes& rule) {
  rule.nodes.resize(kMostNodes);
  rule.weights.resize(kMostNodes);
  Eigen::Index count = 0;
  double left = -cut;
  for (const double* z = begin; z != end; ++z) {
    const double right = std::clamp((*z - mean) / deviation, -cut, cut);
    add_panels(left, right, kWidestPanel, rule, count);
    left = std::max(left, right);
  }
  add_panels(left, cut, kWidestPanel, rule, count);
  rule.nodes.conservativeResize(count);
  rule.weights.conservativeResize(count);
  rule.apply_density();
}

// Eigen's vectorised exp and log stand in for the C library's and are held to the same 16 units of roundoff
// (tested). The formulas, in the functions' records, are chosen for their absolute error: one exponential
// each, no case distinction.

double node_error(double deviation) {
  return 1.01 * kUnitRoundoff * (112.0 + (8.0 + kFourthNorm * 64.0) * deviation);
}

void evaluate_nodes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                    NodeValues& result) {
  const ActivationTraits& traits = activation.traits();
  const Smooth* smooth = traits.smooth();
  NodeArray& g = result.values;
  g = mean + deviation * nodes;
  result.line = smooth != nullptr && smooth->limits.get().follows_line(mean);
  if (result.line) {
    result.center = smooth->limits.get().rest(mean);
    smooth->limits.get().rest_at_nodes(g);
  } else {
    result.center = activation(mean);
    if (traits.values_at_nodes.get() != kOneByOne) {
      traits.values_at_nodes(g, activation.parameters());
    } else {
      g = g.unaryExpr([&](double z) { return activation(z); });
    }
  }
  g -= result.center;
}

void evaluate_slopes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                     NodeArray& slopes) {
  const ActivationTraits& traits = activation.traits();
  slopes = mean + deviation * nodes;
  if (traits.slopes_at_nodes.get() != kOneByOne) {
    traits.slopes_at_nodes(slopes, activation.parameters());
  } else {
    slopes = slopes.unaryExpr([&](double z) { return activation.derivative(z); }).eval();
  }
}

}  // namespace mixcert
