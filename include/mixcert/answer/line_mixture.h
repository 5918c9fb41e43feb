// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A Gaussian mixture on the line: the law of one output, or of a combination of outputs. Deviations may be
// zero (atoms). Weights stand for the law in which they are divided by their sum.
#pragma once

#include "mixcert/answer/interval.h"
#include "mixcert/core/types.h"

namespace mixcert {

class LineMixture {
 public:
  /// Throws InvalidArgument unless weights are nonnegative and sum to one within 1e-9, means are finite and
  /// deviations finite and nonnegative.
  LineMixture(Vector weights, Vector means, Vector deviations);

  [[nodiscard]] Index size() const { return weights_.size(); }
  [[nodiscard]] const Vector& weights() const { return weights_; }
  [[nodiscard]] const Vector& means() const { return means_; }
  [[nodiscard]] const Vector& deviations() const { return deviations_; }

  [[nodiscard]] double mean() const;
  [[nodiscard]] double deviation() const;
  /// Infinite at an atom.
  [[nodiscard]] double density(double x) const;
  [[nodiscard]] double cdf(double x) const;   ///< P(y <= x)
  [[nodiscard]] double tail(double x) const;  ///< P(y > x), accurate where it is small
  /// P(lower < y < upper), accurate where it is small.
  [[nodiscard]] double mass(double lower, double upper) const;
  /// The least x with P(y <= x) >= p, up to rounding; infinite at p = 0 and 1 unless all are atoms.
  [[nodiscard]] double quantile(double p) const;

  /// The law of -y.
  [[nodiscard]] LineMixture mirrored() const;
  /// The law of y + e with independent e ~ N(0, deviation^2).
  [[nodiscard]] LineMixture with_noise(double deviation) const;

  /// Mean and standard deviation with ends that are proven: rounding is in them.
  [[nodiscard]] Interval mean_range() const;
  [[nodiscard]] Interval deviation_range() const;
  /// `weighted_sum`, computed from nonnegative terms weight * value, divided by the sum of the weights and
  /// rounded up.
  [[nodiscard]] double average_upper(double weighted_sum) const;

 private:
  Vector weights_;
  Vector means_;
  Vector deviations_;
};

}  // namespace mixcert
