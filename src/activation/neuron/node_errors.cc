// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Errors of the quadrature of one neuron, and bounds of its exponential moments: docs/theory/stein.md (Y.3).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "activation/neuron/neuron_nodes.h"

namespace mixcert {
namespace {

constexpr double kLargestLogarithm = 600.0;
// Of the error of a damping, as a logarithm.
constexpr double kSmallEnough = -9.0;

}  // namespace

double GrowthExponent::peak() const {
  const double rest = 1.0 - 2.0 * square;
  if (!(rest > 0.0)) return INFINITY;
  return constant + linear * linear / (2.0 * rest);
}

double NeuronNodes::transform_error(double alpha, double beta) const {
  if (is_constant_) return 0.0;
  double error = 0.0;
  double inside = 0.0;
  for (const NeuronReach& reach : reaches_) {
    // P(|Z| > r) <= exp(-r^2/2).
    error += std::exp(log_rule_error_ + reach.imaginary * (alpha + beta * reach.imaginary) -
                      0.5 * inside * inside);
    inside = reach.radius;
  }
  return enlarged(error) + kCutMass;
}

NeuronNodes::ErrorTerms NeuronNodes::transform_errors() const {
  ErrorTerms errors;
  if (is_constant_) return errors;
  double inside = 0.0;
  for (const NeuronReach& reach : reaches_) {
    const double moved = reach.imaginary * neuron_.noise;
    errors.terms[errors.count++] = {log_rule_error_ - 0.5 * inside * inside,
                                    reach.imaginary * std::abs(neuron_.weight), 0.5 * moved * moved};
    inside = reach.radius;
  }
  errors.beyond = kCutMass;
  return errors;
}

GrowthExponent NeuronNodes::growth(double order, const NeuronReach& reach) const {
  const double lambda = std::abs(order * neuron_.weight);
  const double kappa = 0.5 * order * order * neuron_.noise * neuron_.noise;
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

double NeuronNodes::missing(double order) const {
  if (is_constant_) return 0.0;
  double sum = 0.0;
  double inside = 0.0;
  for (const NeuronReach& reach : reaches_) {
    const GrowthExponent g = growth(order, reach);
    const double peak = g.peak();
    const double rest = 1.0 - 2.0 * g.square;
    // The rule's error from `inside` on, and the integral from there or from the cut on.
    const double cut = std::max(inside, kCut) - g.linear / rest;
    if (!(rest > 0.0) || !(peak < kLargestLogarithm * kLargestLogarithm) || !(cut > 0.0)) return INFINITY;
    const double begin = positive_part(inside - g.linear / rest);
    sum += 2.0 / std::sqrt(rest) *
           (std::exp(peak + log_rule_error_ - 0.5 * rest * begin * begin) +
            std::exp(peak - 0.5 * rest * cut * cut));
    inside = reach.radius;
  }
  return enlarged(enlarged(sum));
}

Enclosed NeuronNodes::power_moment(int power) const {
  // |d|^p <= (p / (e lambda))^p exp(lambda |d|).
  const double lambda = std::abs(neuron_.weight);
  const double quadrature = std::pow(power / (std::numbers::e * lambda), power) * missing(1.0);
  double moment = 0.0, size = 0.0, size_below = 0.0;
  for (Eigen::Index i = 0; i < table_.rows(); ++i) {
    double product = table_(i, 0), majorant = table_(i, 0);
    const double difference = table_(i, 1);
    const double largest = std::abs(difference) + largest_error_;
    for (int p = 1; p < power; ++p) {
      product *= difference;
      majorant *= largest;
    }
    moment += product * difference;
    size_below += majorant;
    size += majorant * largest;
  }
  const double rounding = (2000.0 + 64.0 * power) * kUnitRoundoff * size;
  return {moment, enlarged(quadrature + power * largest_error_ * size_below + rounding)};
}

NeuronNodes::LogMoments NeuronNodes::log_moments(double order) const {
  const double lambda = order * neuron_.weight;
  const double kappa = 0.5 * order * order * neuron_.noise * neuron_.noise;
  const Eigen::ArrayXd squares = kappa * values().square();
  const Eigen::ArrayXd lines = lambda * differences();
  const double largest = values().abs().maxCoeff<Eigen::PropagateNaN>() + largest_error_;
  const double shift = largest_error_ * (std::abs(lambda) + 2.0 * kappa * largest);
  if (!(lines.abs().maxCoeff<Eigen::PropagateNaN>() + squares.maxCoeff<Eigen::PropagateNaN>() <
        kLargestLogarithm) ||
      !(shift < 1e-10)) {
    return {INFINITY, INFINITY};
  }
  const double missed = missing(order);
  if (!(missed < INFINITY)) return {INFINITY, INFINITY};
  const Eigen::ArrayXd up = lines.exp();
  const Eigen::ArrayXd scaled = weights() * squares.exp();
  return {std::log(enlarged((scaled * up).sum()) + missed) + 1e-12,
          std::log(enlarged((scaled / up).sum()) + missed) + 1e-12};
}

double NeuronNodes::damping(double t) const {
  const double kappa = 0.5 * t * t * neuron_.noise * neuron_.noise;
  if (!(kappa > 0.0)) return 1.0;
  // exp(-x) <= (sum_{n <= 4} (x/4)^n / n!)^-4.
  const auto damped = [&](const auto& weight, const auto& value) {
    const auto x = ((0.25 * kappa) * value.square()).eval();
    const auto root = (1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0))))).eval();
    return (weight / root.square().square()).sum();
  };
  const Eigen::Index whole = table_.rows() / 4 * 4;
  double mean = damped(weights().tail(table_.rows() - whole), values().tail(table_.rows() - whole));
  for (Eigen::Index i = 0; i < whole; i += 4) {
    mean += damped(weights().segment<4>(i), values().segment<4>(i));
  }
  const double value_part = std::sqrt(kappa) * value_error_;
  const double exponent = log_narrow_error_ + kappa * narrow_imaginary_ * narrow_imaginary_;
  const double rule =
      exponent < kSmallEnough ? enlarged(std::exp(exponent)) + kCutMass : transform_error(0.0, kappa);
  return std::min(1.0, enlarged(mean) + rule + value_part);
}

}  // namespace mixcert
