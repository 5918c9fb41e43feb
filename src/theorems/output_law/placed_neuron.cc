// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.3), "How accurate", (Y.15), (Y.16).
#include "theorems/output_law/placed_neuron.h"

#include <algorithm>
#include <cmath>

namespace mixcert {
namespace {

// Of all neurons' quadratures together, where errors are damped.
constexpr double kAccuracy = 20.0;
// Of the remainders of all neurons' moments together.
constexpr double kRemainders = 1e-9;
// Neurons with more than this share of the variance are not damped by the others.
constexpr double kLargestShare = 0.6;
constexpr double kDecayOfRest = 0.8;
// Variance of the Gaussian that bounds a neuron's exponential moments, beyond the neuron's own.
constexpr double kMostExcess = 0.06;
// Moments are integrated for this frequency, or for a lower one where noise times slope is this at most.
constexpr double kHighestByPowers = 5.0;
constexpr double kLowestByPowers = 2.0;
constexpr double kLargestSpread = 0.55;
// Of moments; with a larger error the nodes themselves are better.
constexpr double kMostPowerError = 1e-9;

}  // namespace

TransformAccuracy::TransformAccuracy(double highest, std::size_t neurons, bool strict)
    : frequency(highest),
      exponent(kAccuracy + std::log(static_cast<double>(neurons))),
      powers(kRemainders / static_cast<double>(neurons)),
      is_strict(strict) {}

PlacedNeuron::PlacedNeuron(const SummandNeuron& neuron, const TransformAccuracy& accuracy)
    : neuron_(&neuron), concentration_(neuron), nodes_(neuron, demand(accuracy)) {}

/// Also settles everything but the nodes.
NodeDemand PlacedNeuron::demand(const TransformAccuracy& accuracy) {
  const double square = neuron_->weight * neuron_->weight;
  const double own = square * positive_part(neuron_->second - neuron_->center * neuron_->center);
  const double bound = concentration_.deviation();
  share_ = own + neuron_->noise * neuron_->noise * neuron_->second;
  const bool is_damped = !accuracy.is_strict && share_ <= kLargestShare;
  is_heavy_ = !is_damped || square * bound * bound - own > kMostExcess;
  const double decay = is_damped ? kDecayOfRest * (1.0 - share_) : 0.0;
  const double spread = neuron_->noise * concentration_.slope();
  most_ = std::min({accuracy.frequency, kHighestByPowers, kLargestSpread / (spread + 1e-9)});
  if (!is_heavy_ && most_ > kLowestByPowers) powers_ = accuracy.powers.count(share_, decay);
  if (powers_ > 0) return {most_, 0.0, decay, accuracy.exponent, true};
  const double order = !is_heavy_ ? 0.0 : accuracy.is_strict ? kMomentOrders[0] : kMomentOrders[1];
  return {accuracy.frequency, order, decay, accuracy.exponent, false};
}

double PlacedNeuron::heavy_slope() const {
  return is_heavy_ ? std::abs(neuron_->weight) * concentration_.deviation() : 0.0;
}

NeuronNodes::LogMoments PlacedNeuron::log_moments(double order) const {
  const NeuronNodes::LogMoments logs = concentration_.log_moments(*neuron_, order);
  if (!is_heavy_) return logs;
  const NeuronNodes::LogMoments by_nodes = nodes_.log_moments(order);
  return {std::min(logs.plus, by_nodes.plus), std::min(logs.minus, by_nodes.minus)};
}

void PlacedNeuron::write_factor(const Frequencies& frequencies, TransformFactor& factor) const {
  if (powers_ > 0) {
    MomentTransform(*neuron_, nodes_, powers_, most_).evaluate(frequencies, factor);
    if (factor.largest_error(frequencies) <= kMostPowerError) return;
  }
  factor_by_nodes(*neuron_, nodes_, frequencies, factor);
}

}  // namespace mixcert
