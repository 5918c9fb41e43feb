// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What certified answers are made of: intervals, laws of one output or of a combination of outputs, and a
// mixture with its bounds.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "mixcert/certificate/result.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

// An answer: what the mixture says, and the range that the true law's value is proven to lie in.

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Interval {
  /// The mixture's value, or that of a computed law; within [lower, upper] up to rounding.
  double estimate = 0.0;
  double lower = -kInfinity;
  double upper = kInfinity;

  [[nodiscard]] double width() const { return upper - lower; }
  [[nodiscard]] bool contains(double value) const { return lower <= value && value <= upper; }
  /// The same answer where it is known beforehand that the value lies in [low, high].
  [[nodiscard]] Interval within(double low, double high) const {
    return {estimate, std::max(lower, low), std::min(upper, high)};
  }
};

// A Gaussian mixture on the line: the law of one output, or of a combination of outputs. Deviations may be
// zero (atoms). Weights stand for the law in which they are divided by their sum.

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

// A law p that is known by a mixture q and by bounds of its distance to it: what all answers start from.

class CertifiedLaw {
 public:
  /// `w2` >= W2(p, q), `w1` >= W1(p, q); NaN: no bound, so that answers are what holds for every law.
  /// A w1 that is missing or above w2 is w2 (W1 <= W2). Throws InvalidArgument where a bound is negative.
  CertifiedLaw(GaussianMixture mixture, double w2, double w1,
               std::shared_ptr<const OutputDistribution> distribution = nullptr);
  /// The law that a result certifies.
  explicit CertifiedLaw(const Result& result);

  [[nodiscard]] const GaussianMixture& mixture() const { return mixture_; }
  [[nodiscard]] Index dimension() const { return mixture_.dimension(); }
  [[nodiscard]] double w2() const { return w2_; }  ///< infinity where there is no bound
  [[nodiscard]] double w1() const { return w1_; }  ///< infinity where there is no bound
  /// Of the one output, where it was computed; null otherwise.
  [[nodiscard]] const std::shared_ptr<const OutputDistribution>& distribution() const {
    return distribution_;
  }

 private:
  GaussianMixture mixture_;
  double w2_;
  double w1_;
  std::shared_ptr<const OutputDistribution> distribution_;
};

// A law on the line that is known by a mixture and bounds of its distance to it: one output of a certified
// law, a combination of outputs, either with observation noise (U.8).

class CertifiedLine {
 public:
  /// Bounds as those of CertifiedLaw: NaN or infinity where there is none.
  CertifiedLine(LineMixture mixture, double w2, double w1);
  /// The law of scale * y, where the distribution function of y was computed (U.20); scale is not zero.
  CertifiedLine(LineMixture mixture, double w2, double w1,
                std::shared_ptr<const OutputDistribution> distribution, double scale);

  [[nodiscard]] const LineMixture& mixture() const { return mixture_; }
  [[nodiscard]] double w2() const { return w2_; }  ///< infinity where there is no bound
  [[nodiscard]] double w1() const { return w1_; }  ///< infinity where there is no bound

  [[nodiscard]] bool has_distribution() const { return distribution_ != nullptr; }
  /// P(y <= x) and P(y < x) both lie in it, by the computed law alone (U.20); [0, 1] where there is none.
  [[nodiscard]] Interval below(double x) const;

  /// The same with independent N(0, deviation^2) added to both laws, which does not move them apart. The
  /// computed law of an output without noise is forgotten.
  [[nodiscard]] CertifiedLine with_noise(double deviation) const;

 private:
  LineMixture mixture_;
  double w2_;
  double w1_;
  std::shared_ptr<const OutputDistribution> distribution_;
  double scale_ = 1.0;
};

/// The law of direction'y: distances grow by |direction| at most, and by what rounding moves the mixture.
/// Throws InvalidArgument where the direction has the wrong size, is not finite or is zero.
CertifiedLine project(const CertifiedLaw& law, ConstVectorRef direction);

/// The law of one output.
CertifiedLine coordinate(const CertifiedLaw& law, Index index);

}  // namespace mixcert
