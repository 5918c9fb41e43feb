// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One neuron of a sum with its nodes: how many of them there are, its characteristic function (Y.4) and its
// exponential moments (Y.16). All choices are valid; they say how small errors become.
#pragma once

#include "theorems/output_law/neuron_concentration.h"
#include "theorems/output_law/transform_product.h"

namespace mixcert {

/// Orders of exponential moments that are tried.
inline constexpr double kMomentOrders[] = {5.25, 3.5, 2.0};

/// What nodes are to be good for.
struct TransformAccuracy {
  double frequency;  ///< the highest, about
  double exponent;   ///< of quadratures, where errors are damped
  bool is_strict;    ///< nothing has to be damped

  TransformAccuracy(double highest, std::size_t neurons, bool strict);
};

class PlacedNeuron {
 public:
  /// `neuron` outlives the object.
  PlacedNeuron(const SummandNeuron& neuron, const TransformAccuracy& accuracy);

  [[nodiscard]] const NeuronNodes& nodes() const { return nodes_; }
  /// Of the variance of the sum, about.
  [[nodiscard]] double share() const { return share_; }
  /// How fast the sum moves with x, if exponential moments need nodes; 0 otherwise.
  [[nodiscard]] double heavy_slope() const;
  /// No less than the logarithms of E exp(t M (a - mu) + (t noise a)^2/2), t = order and t = -order.
  [[nodiscard]] NeuronNodes::LogMoments log_moments(double order) const;
  /// Overwrites `factor`.
  void write_factor(const Frequencies& frequencies, TransformFactor& factor) const {
    factor_by_nodes(*neuron_, nodes_, frequencies, factor);
  }

 private:
  NodeDemand demand(const TransformAccuracy& accuracy);

  const SummandNeuron* neuron_;
  NeuronConcentration concentration_;
  bool is_heavy_ = false;  ///< exponential moments by nodes
  double share_ = 0.0;
  NeuronNodes nodes_;
};

}  // namespace mixcert
