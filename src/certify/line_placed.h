// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One neuron of a sum with its nodes: how many of them there are, whether its characteristic function comes
// from moments (Y.15) or from the nodes (Y.4), and its exponential moments (Y.16). All choices are valid;
// they say how small errors become.
#pragma once

#include "certify/line_concentration.h"
#include "certify/line_powers.h"
#include "certify/line_product.h"

namespace mixcert {

/// Orders of exponential moments that are tried.
inline constexpr double kLineOrders[] = {5.25, 3.5, 2.0};

/// What nodes and moments are to be good for.
struct LineAccuracy {
  double frequency;  ///< the highest, about
  double exponent;   ///< of quadratures, where errors are damped
  LinePowerCounts powers;
  bool is_strict;  ///< nothing has to be damped

  LineAccuracy(double highest, std::size_t neurons, bool strict);
};

class LinePlacedNeuron {
 public:
  /// `neuron` outlives the object.
  LinePlacedNeuron(const LineNeuron& neuron, const LineAccuracy& accuracy);

  [[nodiscard]] const LineNodes& nodes() const { return nodes_; }
  /// Of the variance of the sum, about.
  [[nodiscard]] double share() const { return share_; }
  /// How fast the sum moves with x, if exponential moments need nodes; 0 otherwise.
  [[nodiscard]] double heavy_slope() const;
  /// No less than the logarithms of E exp(t M (a - mu) + (t noise a)^2/2), t = order and t = -order.
  [[nodiscard]] LineNodes::LogMoments log_moments(double order) const;
  /// Overwrites `factor`.
  void write_factor(const LineFrequencies& frequencies, LineFactor& factor) const;

 private:
  LineDemand demand(const LineAccuracy& accuracy);

  const LineNeuron* neuron_;
  LineConcentration concentration_;
  bool is_heavy_ = false;  ///< exponential moments by nodes
  int powers_ = 0;         ///< moments to be used; 0: none
  double share_ = 0.0;
  double most_ = 0.0;  ///< moments are integrated for this frequency
  LineNodes nodes_;
};

}  // namespace mixcert
