// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.3), "How accurate", (Y.16).
#include "theorems/output_law/placed_neuron.h"

#include <algorithm>
#include <cmath>

namespace mixcert {
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

PlacedNeuron::PlacedNeuron(const SummandNeuron& neuron, const TransformAccuracy& accuracy)
    : neuron_(&neuron), concentration_(neuron), nodes_(neuron, demand(accuracy)) {}

/// What the nodes are asked for; decides on the way whether the neuron is heavy, and its share.
NodeDemand PlacedNeuron::demand(const TransformAccuracy& accuracy) {
  const double square = neuron_->weight * neuron_->weight;
  const double own = square * positive_part(neuron_->second - neuron_->center * neuron_->center);
  const double bound = concentration_.deviation();
  share_ = own + neuron_->noise * neuron_->noise * neuron_->second;
  const bool is_damped = !accuracy.is_strict && share_ <= kLargestShare;
  is_heavy_ = !is_damped || square * bound * bound - own > kMostExcess;
  const double decay = is_damped ? kDecayOfRest * (1.0 - share_) : 0.0;
  const double order = !is_heavy_ ? 0.0 : accuracy.is_strict ? kMomentOrders[0] : kMomentOrders[1];
  return {accuracy.frequency, order, decay, accuracy.exponent};
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

}  // namespace mixcert
