// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E exp(-y a^2) of one neuron, from both sides (Y.12): closed form for piecewise linear activations, moments
// where y is small, quadrature otherwise; and a table of its logarithm, because every output needs it at
// arguments of its own.
#pragma once

#include <vector>

#include "certify/neuron_kernels.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

class NeuronDamping {
 public:
  /// z = m + s x; both arguments outlive the object.
  NeuronDamping(const Activation& activation, double m, double s, const NeuronKernels& kernels);

  /// lower <= E exp(-y a^2) <= upper, both in (0, 1]; y >= 0.
  struct Range {
    double lower, upper;
  };
  [[nodiscard]] Range at(double y) const;
  /// No less than E a^2.
  [[nodiscard]] double second() const { return most_; }

 private:
  [[nodiscard]] Range of_lines(double y) const;
  [[nodiscard]] Range of_nodes(double y) const;

  const NeuronKernels* kernels_;
  bool is_linear_;
  double kink_, right_, left_;    ///< -m/s, and the squares of s times the slopes of the two branches
  double least_, most_, fourth_;  ///< bounds of E a^2, and no less than E a^4
};

/// Logarithms of E exp(-y a^2), a convex function of y: between the nodes of a table it is below chords and
/// above the continuation of the chord on the left. Nodes are computed when they are needed.
class DampingTable {
 public:
  /// For 0 <= y <= most.
  DampingTable(NeuronDamping damping, double most);

  /// At y, which must not be below the y of the last call with the same `place`, first 0.
  [[nodiscard]] NeuronDamping::Range at(double y, std::size_t& place) const;

 private:
  void know(std::size_t node) const;

  NeuronDamping damping_;
  std::vector<double> nodes_;
  mutable std::vector<NeuronDamping::Range> logarithms_;
  mutable std::size_t known_ = 1;  ///< nodes whose logarithm is known
};

}  // namespace mixcert
