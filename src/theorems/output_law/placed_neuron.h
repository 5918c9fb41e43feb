// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One neuron of a sum with its nodes: how many of them there are, its characteristic function (Y.4) and its
// exponential moments (Y.16). All choices are valid; they say how small errors become.
#pragma once

#include "activation/neuron/neuron_nodes.h"
#include "theorems/output_law/transform_product.h"

namespace mixcert {

// Exponential moments of one neuron in closed form, by concentration: docs/theory/stein.md (Y.16).

/// a - E a, apart from |x| > 9, has exponential moments no larger than those of a Gaussian.
class NeuronConcentration {
 public:
  explicit NeuronConcentration(const SummandNeuron& neuron);

  /// That Gaussian's standard deviation.
  [[nodiscard]] double deviation() const { return deviation_; }
  /// No less than the logarithms of E exp(t M (a - mu) + (t noise a)^2/2), t = order and t = -order; infinite
  /// where nothing is known.
  [[nodiscard]] NeuronNodes::LogMoments log_moments(const SummandNeuron& neuron, double order) const;

 private:
  /// exp(lambda (a - mu) + kappa a^2), |E a - center| <= shift, E a^2 <= second.
  struct Moment {
    double lambda = 0.0, kappa = 0.0, center = 0.0, shift = 0.0, second = 0.0;
  };
  /// Logarithms of its expectation, apart from the shift: by a Gaussian of this deviation, and where |a|
  /// <= 1.
  static double by_slope(const Moment& moment, double deviation, double sign);
  static double by_bound(const Moment& moment, double deviation);
  /// No less than E[exp(|lambda (a - mu)| + kappa a^2); |x| > 9].
  [[nodiscard]] double beyond(const SummandNeuron& neuron, double lambda, double kappa) const;

  double deviation_, global_deviation_, slope_;
  bool is_bounded_;        ///< is |a| <= 1?
  bool is_local_ = false;  ///< was the slope taken for |x| <= 9 alone?
};

/// Orders of exponential moments that are tried. The last ones are for neurons whose products with wide
/// weights have heavy tails; the larger the order, the lighter are the tails that it proves.
inline constexpr double kMomentOrders[] = {5.25, 3.5, 2.0, 1.4, 1.0};

/// What nodes are to be good for.
struct TransformAccuracy {
  double frequency;  ///< the highest, about
  double exponent;   ///< of quadratures, where errors are damped
  bool is_strict;    ///< nothing has to be damped

  TransformAccuracy(double highest, std::size_t neurons, bool strict);
};

class PlacedNeuron {
 public:
  /// `neuron` outlives the object; it is dropped with probability `rate` (D.8).
  PlacedNeuron(const SummandNeuron& neuron, const TransformAccuracy& accuracy, double rate);

  /// No less than what its noise leaves of its characteristic function at t and beyond.
  [[nodiscard]] double damping(double t) const;
  /// Of the variance of the sum, about.
  [[nodiscard]] double share() const { return share_; }
  /// How fast the sum moves with x, if exponential moments need nodes; 0 otherwise.
  [[nodiscard]] double heavy_slope() const;
  /// No less than the logarithms of E exp(t (summand)), t = order and t = -order.
  [[nodiscard]] NeuronNodes::LogMoments log_moments(double order) const;
  /// Overwrites `factor`.
  void write_factor(const Frequencies& frequencies, TransformFactor& factor) const;

 private:
  /// Of M (a - mu) and the noise, the neuron being kept.
  [[nodiscard]] NeuronNodes::LogMoments kept_moments(double order) const;
  NodeDemand demand(const TransformAccuracy& accuracy);

  const SummandNeuron* neuron_;
  double rate_;
  NeuronConcentration concentration_;
  bool is_heavy_ = false;  ///< exponential moments by nodes
  double share_ = 0.0;
  NeuronNodes nodes_;
};

}  // namespace mixcert
