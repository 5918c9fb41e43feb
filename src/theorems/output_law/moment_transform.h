// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The characteristic function of a neuron that moves the sum little, from its moments (Y.15).
#pragma once

#include <array>

#include "theorems/output_law/transform_product.h"

namespace mixcert {

inline constexpr int kMostPowers = 16;

/// How many moments are enough.
class MomentCounts {
 public:
  /// For remainders of this size.
  explicit MomentCounts(double remainder);
  /// Of a neuron of this variance, where the rest of the sum damps errors by exp(-decay t^2/2), about: an
  /// even number up to kMostPowers; 0 where they are not.
  [[nodiscard]] int count(double variance, double decay) const;

 private:
  std::array<double, kMostPowers / 2 + 1> largest_{};  ///< variance over decay, for 2n moments
};

class MomentTransform {
 public:
  /// What nodes miss is bounded at the frequency `most`, and extrapolated beyond.
  MomentTransform(const SummandNeuron& neuron, const NeuronNodes& nodes, int count, double most);

  /// Overwrites `factor`.
  void evaluate(const Frequencies& frequencies, TransformFactor& factor) const;

 private:
  /// What nodes miss, into the errors.
  void write_missing(const Frequencies& frequencies, TransformFactor& factor) const;

  int count_;
  double most_;
  std::array<double, kMostPowers + 1> means_{};  ///< E g_p
  NeuronNodes::Missing missing_;
  double rounding_, per_time_, per_square_;  ///< of terms, times the sum of even terms
};

}  // namespace mixcert
