// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Exponential moments of one neuron in closed form, by concentration: docs/theory/stein.md (Y.16).
#pragma once

#include "activation/neuron/neuron_nodes.h"

namespace mixcert {

/// a - E a, apart from |x| > 9, has exponential moments no larger than those of a Gaussian.
class NeuronConcentration {
 public:
  explicit NeuronConcentration(const SummandNeuron& neuron);

  /// That Gaussian's standard deviation.
  [[nodiscard]] double deviation() const { return deviation_; }
  /// No less than |a'|, of x.
  [[nodiscard]] double slope() const { return slope_; }
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

}  // namespace mixcert
