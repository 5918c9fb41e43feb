// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Functions made of pieces, (V.9): panels end at the kinks, and values at nodes are differences to the value
// at the mean, formed piece by piece. Their errors are proportional to the deviation, however small it is.
// Where all pieces are lines, most moments have closed forms too.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "activation/activation_traits.h"
#include "activation/enclosed_arithmetic.h"
#include "activation/node_sums.h"
#include "activation/quadrature_moments.h"
#include "activation/ramp_moments.h"

namespace mixcert {

double pieced_difference(const Activation& activation, double from, double step) {
  const Pieced& pieced = *activation.traits().pieced();
  const ActivationParameters& with = activation.parameters();
  const Cuts kinks = pieced.kinks(with);
  std::size_t piece = 0;
  while (piece < kinks.size() && kinks[piece] <= from) ++piece;
  double sum = 0.0;
  for (; step > 0.0 && piece < kinks.size() && step > kinks[piece] - from; ++piece) {
    const double part = kinks[piece] - from;
    sum += pieced.difference(piece, from, part, with);
    from = kinks[piece];
    step -= part;
  }
  for (; step < 0.0 && piece > 0 && step < kinks[piece - 1] - from; --piece) {
    const double part = kinks[piece - 1] - from;
    sum += pieced.difference(piece, from, part, with);
    from = kinks[piece - 1];
    step -= part;
  }
  return sum + pieced.difference(piece, from, step, with);
}

namespace {

/// Of a piece that is a line.
Enclosed slope_of_line(const Activation& activation, std::size_t piece) {
  const double slope = activation.traits().pieced()->difference(piece, 0.0, 1.0, activation.parameters());
  return {slope, kUnitRoundoff * std::abs(slope)};
}

/// The fourth norm over the nodes of u L s (16 + 128 |x|), (V.9).
double pieced_node_error(double steepest, double deviation) {
  return safe_error(1.01 * kUnitRoundoff * steepest * (16.0 + kFourthNorm * 128.0) * deviation);
}

GaussianMoments moments_by_panels(const Activation& activation, double mean, double deviation) {
  const Pieced& pieced = *activation.traits().pieced();
  const ActivationParameters& with = activation.parameters();
  WeightedNodes rule;
  const Cuts ends = pieced.panel_ends(with);
  place_cut_panels(ends.begin(), ends.end(), mean, deviation, kCut, rule);
  NodeValues g;
  g.values =
      rule.nodes.unaryExpr([&](double x) { return pieced_difference(activation, mean, deviation * x); });
  // From the middle of a panel, reached with the real slope, an ellipse extends by 1.6 at most (V.3). Only
  // panels of this interval count; beyond it the function has its largest slope.
  const double lower = mean - 1.0000001 * kCut * deviation, upper = mean + 1.0000001 * kCut * deviation;
  const double steepest = activation.lipschitz().upper;
  const double near =
      activation.max_slope(lower, upper).upper + 0.15 * pieced.panel_slope(lower, upper, with);
  const double value_error = pieced_node_error(steepest, deviation);
  const RuleError error{kPanelErrorFactor,
                        kPanelRadius,
                        {deviation, {0.0, INFINITY, near, INFINITY}, value_error},
                        {deviation, {0.0, INFINITY, steepest, INFINITY}, value_error}};
  const Enclosed center = value_at(activation, mean);
  return NodeSums(rule, g, error, center, deviation, value_error, steepest).moments();
}

// Lines between kinks: that of the piece of the mean, continued, plus a ramp for every kink, which begins
// there and leads away from the mean.

struct KinkRamp {
  double side;  ///< 1: right of the mean
  Enclosed jump, threshold;
  RampMoments moments;
};

/// `number` counts kinks from the left.
KinkRamp kink_ramp(const Activation& activation, std::size_t number, double mean, double deviation) {
  const Pieced& pieced = *activation.traits().pieced();
  const ActivationParameters& with = activation.parameters();
  const double distance = pieced.kinks(with)[number] - mean;
  const double threshold = std::abs(distance) / deviation;
  const Enclosed t{threshold, safe_error(2 * kUnitRoundoff * threshold)};
  const Enclosed jump = slope_of_line(activation, number + 1) - slope_of_line(activation, number);
  return {distance > 0.0 ? 1.0 : -1.0, jump, t, ramp_moments(t)};
}

/// Cov(a, b) - E[a x] E[b x] of two ramps.
Enclosed residual_product(const KinkRamp& a, const KinkRamp& b) {
  const Enclosed means = a.moments.first * b.moments.first;
  const Enclosed tails = a.moments.tail * b.moments.tail;
  if (a.side != b.side) return tails - means;
  const bool is_farther = a.threshold.value > b.threshold.value;
  const KinkRamp& far = is_farther ? a : b;
  const KinkRamp& near = is_farther ? b : a;
  // (x - t)(x - t') = (x - t)^2 + (t - t')(x - t).
  const Enclosed product = far.moments.second + (far.threshold - near.threshold) * far.moments.first;
  return product - means - tails;
}

/// Mean, slope, curvature, residual and second moment in closed form.
GaussianMoments moments_of_lines(const Activation& activation, double mean, double deviation) {
  const Cuts kinks = activation.traits().pieced()->kinks(activation.parameters());
  const auto piece =
      static_cast<std::size_t>(std::upper_bound(kinks.begin(), kinks.end(), mean) - kinks.begin());
  const Enclosed inverse_root_two{0.5 * std::numbers::sqrt2, kUnitRoundoff};
  GaussianMoments m;
  m.mean = value_at(activation, mean);
  m.slope = deviation * slope_of_line(activation, piece);
  std::vector<KinkRamp> ramps;
  for (std::size_t i = 0; i < kinks.size(); ++i) {
    const KinkRamp& ramp = ramps.emplace_back(kink_ramp(activation, i, mean, deviation));
    const Enclosed scale = deviation * ramp.jump;
    m.mean = m.mean + scale * ramp.moments.first;
    m.slope = m.slope + ramp.side * (scale * ramp.moments.tail);
    m.curvature = m.curvature + scale * (inverse_root_two * ramp.moments.density);
  }
  Enclosed sum;
  for (const KinkRamp& a : ramps) {
    for (const KinkRamp& b : ramps) sum = sum + (a.jump * b.jump) * residual_product(a, b);
  }
  m.residual = nonnegative(square(exactly(deviation)) * sum);
  m.second = nonnegative(square(m.mean) + square(m.slope) + m.residual);
  return m;
}

/// Takes what is known better.
void take_better(Enclosed& known, const Enclosed& other) {
  if (other.error < known.error) known = other;
}

}  // namespace

GaussianMoments pieced_moments(const Activation& activation, double mean, double deviation) {
  const Pieced& pieced = *activation.traits().pieced();
  if (deviation <= pieced.largest_deviation(activation.parameters())) {
    GaussianMoments m = moments_by_panels(activation, mean, deviation);
    if (!pieced.is_linear) return m;
    const GaussianMoments lines = moments_of_lines(activation, mean, deviation);
    take_better(m.mean, lines.mean);
    take_better(m.slope, lines.slope);
    take_better(m.curvature, lines.curvature);
    take_better(m.residual, lines.residual);
    take_better(m.second, lines.second);
    return m;
  }
  const FarLines far = pieced.far(activation.parameters());
  return moments_near_lines(far.left, far.right, far.distance, mean, deviation);
}

}  // namespace mixcert
