// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.3), "How accurate", (Y.16).
#include "theorems/output_law/placed_neuron.h"

#include <algorithm>
#include <cmath>

#include "activation/activation_traits.h"

namespace mixcert {

// docs/theory/stein.md (Y.16).

namespace {

// A slope near the mean is looked for where the global one makes the neuron look larger than this.
constexpr double kSmallShare = 0.06;
constexpr double kRadius = 9.0;
constexpr double kRatio = 1.25;
constexpr double kLargestMomentRadius = 100.0;
constexpr double kLeastRest = 0.05;
constexpr double kNegligibleTail = 1e-6;
// With less noise than this a bound of |a| is no better than its slope.
constexpr double kSmallNoise = 0.02;

/// Half of sup f - inf f.
double half_range(const Activation& f) {
  const Smooth* smooth = f.traits().smooth();
  return smooth != nullptr ? smooth->limits.get().half_range() : INFINITY;
}

/// sup |f'|; where it is known without a search.
double steepest(const Activation& f) {
  const Analytic* analytic = f.traits().analytic();
  const bool is_known = analytic != nullptr && analytic->tanh_form.get().exists();
  return is_known ? analytic->tanh_form.get().steepest() : f.lipschitz().upper;
}

/// E[exp(lambda |a - mu| + kappa a^2); |x| > radius] where |a - mu| <= difference + slope |x|, |a| <= size +
/// slope |x|.
double outside(double radius, double lambda, double kappa, double difference, double size, double slope) {
  const double constant = lambda * difference + kappa * size * size;
  const double linear = lambda * slope + 2.0 * kappa * size * slope;
  const double rest = 1.0 - 2.0 * kappa * slope * slope;
  const double cut = radius - linear / rest;
  if (!(rest > kLeastRest) || !(cut > 0.0)) return INFINITY;
  return enlarged(2.0 / std::sqrt(rest) *
                  std::exp(constant + 0.5 * linear * linear / rest - 0.5 * rest * cut * cut));
}

}  // namespace

NeuronConcentration::NeuronConcentration(const SummandNeuron& neuron) {
  const Activation& f = *neuron.activation;
  const double s = neuron.deviation;
  slope_ = enlarged(steepest(f) * s);
  is_bounded_ = half_range(f) < INFINITY;
  deviation_ = global_deviation_ = std::min(slope_, enlarged(half_range(f)));
  if (std::abs(neuron.weight) * deviation_ < kSmallShare) return;
  const double local = enlarged(f.max_slope(neuron.mean - kRadius * s, neuron.mean + kRadius * s).upper * s);
  is_local_ = local < deviation_;
  deviation_ = std::min(deviation_, local);
}

double NeuronConcentration::beyond(const SummandNeuron& neuron, double lambda, double kappa) const {
  const Activation& f = *neuron.activation;
  const double value = f(neuron.mean);
  const double difference = enlarged(std::abs(value - neuron.center) + 1e-12 * (1.0 + std::abs(value)));
  const double size = enlarged(std::abs(value)) + 1e-12;
  const double most = enlarged(1.0 + std::abs(neuron.center));
  double sum = 0.0;
  for (double radius = kRadius; radius < kLargestMomentRadius; radius *= kRatio) {
    double all = outside(radius, lambda, kappa, difference, size, slope_);
    // Where |a| <= 1; P(|Z| > r) <= exp(-r^2/2).
    if (is_bounded_) all = std::min(all, std::exp(lambda * most + kappa - 0.5 * radius * radius));
    if (all < kNegligibleTail) return enlarged(sum + all);
    const double distance = kRatio * radius * neuron.deviation;
    const double slope =
        enlarged(f.max_slope(neuron.mean - distance, neuron.mean + distance).upper * neuron.deviation);
    sum += outside(radius, lambda, kappa, difference, size, slope);
  }
  return INFINITY;
}

double NeuronConcentration::by_slope(const Moment& moment, double deviation, double sign) {
  const double variance = enlarged(deviation * deviation);
  const double rest = 1.0 - 2.0 * moment.kappa * variance;
  if (!(rest > kLeastRest)) return INFINITY;
  const double mean = std::abs(moment.center) + moment.shift;
  const double line =
      std::abs(sign * moment.lambda + 2.0 * moment.kappa * moment.center) + 2.0 * moment.kappa * moment.shift;
  return moment.kappa * (mean * mean + variance / rest) + 0.5 * line * line * variance / rest;
}

double NeuronConcentration::by_bound(const Moment& moment, double deviation) {
  const double line = 0.5 * moment.lambda * moment.lambda * deviation * deviation;
  // E[a^2 exp(lambda d)] by the exponents 8/7 and 8, or by |a| <= 1.
  const double second = moment.second;
  const double root = std::sqrt(second * std::sqrt(second * std::sqrt(second)));
  const double share = line < 1.0 ? std::min(1.0, root * std::exp(7.0 * line)) : 1.0;
  return line + std::log1p(enlarged(share * std::expm1(moment.kappa)));
}

NeuronNodes::LogMoments NeuronConcentration::log_moments(const SummandNeuron& neuron, double order) const {
  Moment moment;
  moment.lambda = order * neuron.weight;
  moment.kappa = enlarged(0.5 * order * order * neuron.noise * neuron.noise);
  moment.center = neuron.center;
  // Of the activation itself, or of the one cut off at |x| = 9.
  moment.shift = enlarged(neuron.center_error) + (is_local_ ? 1e-18 * neuron.deviation : 0.0);
  moment.second = enlarged(neuron.second + neuron.second_error) + 1e-18;
  const auto bounds = [&](double deviation) {
    const double common = std::abs(moment.lambda) * moment.shift + 1e-12;
    const bool matters = is_bounded_ && moment.kappa * deviation * deviation > kSmallNoise;
    const double bounded = matters ? by_bound(moment, deviation) : INFINITY;
    return NeuronNodes::LogMoments{enlarged(common + std::min(bounded, by_slope(moment, deviation, 1.0))),
                                   enlarged(common + std::min(bounded, by_slope(moment, deviation, -1.0)))};
  };
  NeuronNodes::LogMoments logs = bounds(deviation_);
  if (!is_local_) return logs;
  const double added = beyond(neuron, std::abs(moment.lambda), moment.kappa);
  logs = {logs.plus + added, logs.minus + added};
  if (!(added > kNegligibleTail)) return logs;
  const NeuronNodes::LogMoments globally = bounds(global_deviation_);
  return {std::min(logs.plus, globally.plus), std::min(logs.minus, globally.minus)};
}

namespace {

// Of all neurons' quadratures together, where errors are damped.
constexpr double kAccuracy = 20.0;
// Neurons with more than this share of the variance are not damped by the others.
constexpr double kLargestShare = 0.6;
constexpr double kDecayOfRest = 0.8;
// Variance of the Gaussian that bounds a neuron's exponential moments, beyond the neuron's own.
constexpr double kMostExcess = 0.06;

}  // namespace

TransformAccuracy::TransformAccuracy(double highest, std::size_t neurons, bool strict)
    : frequency(highest), exponent(kAccuracy + std::log(static_cast<double>(neurons))), is_strict(strict) {}

PlacedNeuron::PlacedNeuron(const SummandNeuron& neuron, const TransformAccuracy& accuracy, double rate)
    : neuron_(&neuron), rate_(rate), concentration_(neuron), nodes_(neuron, demand(accuracy)) {}

/// What the nodes are asked for; decides on the way whether the neuron is heavy, and its share.
NodeDemand PlacedNeuron::demand(const TransformAccuracy& accuracy) {
  const double square = neuron_->weight * neuron_->weight;
  const double own = square * positive_part(neuron_->second - neuron_->center * neuron_->center);
  const double bound = concentration_.deviation();
  share_ = own + neuron_->noise * neuron_->noise * neuron_->second;
  if (rate_ > 0.0) share_ = (1.0 - rate_) * (share_ + rate_ * square * neuron_->center * neuron_->center);
  const bool is_damped = !accuracy.is_strict && share_ <= kLargestShare;
  is_heavy_ = !is_damped || square * bound * bound - own > kMostExcess;
  const double decay = is_damped ? kDecayOfRest * (1.0 - share_) : 0.0;
  const double order = !is_heavy_ ? 0.0 : accuracy.is_strict ? kMomentOrders[0] : kMomentOrders[1];
  return {accuracy.frequency, order, decay, accuracy.exponent};
}

double PlacedNeuron::heavy_slope() const {
  return is_heavy_ ? std::abs(neuron_->weight) * concentration_.deviation() : 0.0;
}

NeuronNodes::LogMoments PlacedNeuron::kept_moments(double order) const {
  const NeuronNodes::LogMoments logs = concentration_.log_moments(*neuron_, order);
  if (!is_heavy_) return logs;
  const NeuronNodes::LogMoments by_nodes = nodes_.log_moments(order);
  return {std::min(logs.plus, by_nodes.plus), std::min(logs.minus, by_nodes.minus)};
}

// Dropout, docs/theory/dropout-laws.md (D.8). A summand is M (a - mu) + p M mu and its noise where the neuron
// is kept, and -kappa M mu where it is dropped.

namespace {

/// No less than log(p e^dropped + kappa e^kept).
double log_of_masked(double rate, double dropped, double kept) {
  const double top = larger_or_nan(dropped, kept);
  if (!(top < INFINITY)) return INFINITY;
  const double sum = rate * std::exp(dropped - top) + (1.0 - rate) * std::exp(kept - top);
  return top + std::log(sum) + 1e-12 * (1.0 + std::abs(dropped) + std::abs(kept));
}

/// From the characteristic function of M (a - mu) and the noise to that of the summand; `place` is M mu.
void mask_factor(double rate, double place, const Frequencies& frequencies, TransformFactor& factor) {
  const double keep = 1.0 - rate;
  for (std::size_t b = 0; b < factor.real.size(); ++b) {
    const FourValues kept_turn = (rate * place) * frequencies.time[b];
    const FourValues dropped_turn = (-keep * place) * frequencies.time[b];
    const FourValues cosine = kept_turn.cos(), sine = kept_turn.sin();
    const FourValues real = factor.real[b], imaginary = factor.imaginary[b];
    factor.real[b] = rate * dropped_turn.cos() + keep * (cosine * real - sine * imaginary);
    factor.imaginary[b] = rate * dropped_turn.sin() + keep * (cosine * imaginary + sine * real);
    const FourValues angles = kept_turn.abs() + dropped_turn.abs();
    factor.error[b] =
        keep * factor.error[b] * (1.0 + 8.0 * kUnitRoundoff) + kUnitRoundoff * (64.0 + 16.0 * angles);
  }
}

}  // namespace

NeuronNodes::LogMoments PlacedNeuron::log_moments(double order) const {
  const NeuronNodes::LogMoments kept = kept_moments(order);
  if (!(rate_ > 0.0)) return kept;
  const double place = order * neuron_->weight * neuron_->center;
  const double by_kept = rate_ * place, by_dropped = (1.0 - rate_) * place;
  return {log_of_masked(rate_, -by_dropped, by_kept + kept.plus),
          log_of_masked(rate_, by_dropped, kept.minus - by_kept)};
}

double PlacedNeuron::damping(double t) const {
  const double kept = nodes_.damping(t);
  return rate_ > 0.0 ? enlarged(rate_ + (1.0 - rate_) * kept) : kept;
}

void PlacedNeuron::write_factor(const Frequencies& frequencies, TransformFactor& factor) const {
  factor_by_nodes(*neuron_, nodes_, frequencies, factor);
  if (rate_ > 0.0) mask_factor(rate_, neuron_->weight * neuron_->center, frequencies, factor);
}

}  // namespace mixcert
