// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E exp(-y a^2) of one neuron, from both sides (Y.12): closed form for piecewise linear activations, moments
// where y is small, quadrature otherwise.
#pragma once

#include "certify/neuron_kernels.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// Bounds of E exp(-y a^2) are at least this.
inline constexpr double kLeastDamping = 1e-200;

class NeuronDamping {
 public:
  /// z = m + s x; both arguments outlive the object.
  NeuronDamping(const Activation& activation, double m, double s, const NeuronKernels& kernels);

  /// lower <= E exp(-y a^2) <= upper, both in (0, 1]; y >= 0.
  struct Range {
    double lower, upper;
    double logarithm = 0.0;  ///< no less than that of the expectation, at most 0
  };
  [[nodiscard]] Range at(double y) const;
  /// No less than E a^2.
  [[nodiscard]] double second() const { return most_; }

 private:
  /// Whether y^2 E a^4 is so small that moments are good enough.
  [[nodiscard]] bool is_small(double y) const;
  [[nodiscard]] Range of_lines(double y) const;
  [[nodiscard]] Range of_nodes(double y) const;

  const NeuronKernels* kernels_;
  bool is_linear_;
  double kink_, right_;           ///< -m/s, and the square of s times the slope of the right branch
  double left_ = 0.0;             ///< the same of the left one
  double below_ = 0.0;            ///< P(x < kink)
  double least_, most_, fourth_;  ///< bounds of E a^2, and no less than E a^4
};

}  // namespace mixcert
