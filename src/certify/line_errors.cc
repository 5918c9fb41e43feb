// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Errors of the quadrature of one neuron, and bounds of its exponential moments: docs/theory/stein.md (Y.3).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "certify/line_nodes.h"

namespace mixcert {
namespace {

// Both tails beyond the cut.
constexpr double kCutMass = 3e-19;
constexpr double kLargestLogarithm = 600.0;

}  // namespace

double GrowthExponent::peak() const {
  const double rest = 1.0 - 2.0 * square;
  if (!(rest > 0.0)) return INFINITY;
  return constant + linear * linear / (2.0 * rest);
}

double LineNodes::transform_error(double alpha, double beta) const {
  if (is_constant_) return 0.0;
  double error = 0.0;
  double inside = 0.0;
  for (const Reach& reach : reaches_) {
    // P(|Z| > r) <= exp(-r^2/2).
    error += std::exp(log_rule_error_ + reach.imaginary * (alpha + beta * reach.imaginary) -
                      0.5 * inside * inside);
    inside = reach.radius;
  }
  return error * kSafety + kCutMass;
}

GrowthExponent LineNodes::growth(double order, const Reach& reach) const {
  const double lambda = std::abs(order * neuron_.weight);
  const double kappa = 0.5 * std::pow(order * neuron_.noise, 2);
  const double size = at_mean_ + reach.excursion;
  GrowthExponent growth;
  growth.constant = lambda * (difference_at_mean_ + reach.excursion) + kappa * size * size;
  growth.linear = lambda * reach.slope + 2.0 * kappa * size * reach.slope;
  growth.square = kappa * reach.slope * reach.slope;
  if (bound_ < INFINITY) {
    const double bounded = lambda * (bound_ + std::abs(neuron_.center)) + kappa * bound_ * bound_;
    if (bounded < growth.peak()) growth = {bounded, 0.0, 0.0};
  }
  return growth;
}

double LineNodes::missing(double order) const {
  if (is_constant_) return 0.0;
  double sum = 0.0;
  double inside = 0.0;
  for (const Reach& reach : reaches_) {
    const GrowthExponent g = growth(order, reach);
    const double peak = g.peak();
    const double rest = 1.0 - 2.0 * g.square;
    // The rule's error from `inside` on, and the integral from there or from the cut on.
    const double cut = std::max(inside, kCut) - g.linear / rest;
    if (!(rest > 0.0) || !(peak < kLargestLogarithm * kLargestLogarithm) || !(cut > 0.0)) return INFINITY;
    const double begin = std::max(0.0, inside - g.linear / rest);
    sum += 2.0 / std::sqrt(rest) *
           (std::exp(peak + log_rule_error_ - 0.5 * rest * begin * begin) +
            std::exp(peak - 0.5 * rest * cut * cut));
    inside = reach.radius;
  }
  return sum * (kSafety * kSafety);
}

Enclosed LineNodes::power_moment(int power) const {
  // |d|^p <= (p / (e lambda))^p exp(lambda |d|).
  const double lambda = std::abs(neuron_.weight);
  const double quadrature = std::pow(power / (std::numbers::e * lambda), power) * missing(1.0);
  double moment = 0.0, size = 0.0, size_below = 0.0;
  for (Eigen::Index i = 0; i < weights_.size(); ++i) {
    double product = weights_(i), majorant = weights_(i);
    const double largest = std::abs(differences_(i)) + largest_error_;
    for (int p = 1; p < power; ++p) {
      product *= differences_(i);
      majorant *= largest;
    }
    moment += product * differences_(i);
    size_below += majorant;
    size += majorant * largest;
  }
  const double rounding = (2000.0 + 64.0 * power) * kUnitRoundoff * size;
  return {moment, (quadrature + power * largest_error_ * size_below + rounding) * kSafety};
}

LineNodes::LogMoments LineNodes::log_moments(double order) const {
  const double lambda = order * neuron_.weight;
  const double kappa = 0.5 * std::pow(order * neuron_.noise, 2);
  const Eigen::ArrayXd squares = kappa * values_.square();
  const Eigen::ArrayXd lines = lambda * differences_;
  const double largest = values_.abs().maxCoeff() + largest_error_;
  const double shift = largest_error_ * (std::abs(lambda) + 2.0 * kappa * largest);
  if (!(lines.abs().maxCoeff() + squares.maxCoeff() < kLargestLogarithm) || !(shift < 1e-10)) {
    return {INFINITY, INFINITY};
  }
  const double missed = missing(order);
  if (!(missed < INFINITY)) return {INFINITY, INFINITY};
  const Eigen::ArrayXd up = lines.exp();
  const Eigen::ArrayXd scaled = weights_ * squares.exp();
  return {std::log((scaled * up).sum() * kSafety + missed) + 1e-12,
          std::log((scaled / up).sum() * kSafety + missed) + 1e-12};
}

double LineNodes::damping(double t) const {
  const double kappa = 0.5 * std::pow(t * neuron_.noise, 2);
  if (!(kappa > 0.0)) return 1.0;
  const double mean = (weights_ * (-kappa * values_.square()).exp()).sum();
  const double value_part = std::sqrt(kappa) * value_error_;
  return std::min(1.0, mean * kSafety + transform_error(0.0, kappa) + value_part);
}

}  // namespace mixcert
