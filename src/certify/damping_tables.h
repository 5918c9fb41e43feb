// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E exp(-y a^2) of all neurons of a layer. It and its logarithm are convex functions of y: between the nodes
// of a table they are below chords, the logarithm above continuations of the chord on the left (Y.12). Nodes
// of the tables have the same ratio as the arguments of the transforms, so an output's place in a table is
// found once.
#pragma once

#include <vector>

#include "certify/neuron_damping.h"
#include "mixcert/core/types.h"

namespace mixcert {

/// Arguments theta of the transforms are this times powers of the root of 2.
inline constexpr double kLeastArgument = 0.125;
/// Of these powers, and of those that tables hold below the least one.
inline constexpr int kArgumentCount = 34;
inline constexpr int kBelow = 20;

class DampingTables {
 public:
  /// `scales`: for each neuron the largest y/theta that is asked for.
  DampingTables(std::vector<NeuronDamping> neurons, Vector scales);

  /// Makes the nodes known that theta up to `arguments` powers need.
  void know(int arguments);

  /// A neuron at y = theta scale: at the n-th theta E exp(-y a^2) is below (1 - x) upper[n] + x upper[n + 1],
  /// its logarithm below the same chord of `logarithm`, its inverse below inverse[n + 1] and inverse[n] + x
  /// rise[n].
  struct Place {
    const double *logarithm, *upper, *inverse, *rise;
    double x;
    bool exists;  ///< else y is so small that 1 - y E a^2 and 1 are good enough
  };
  [[nodiscard]] Place place(Index neuron, double scale) const;
  /// No less than E a^2.
  [[nodiscard]] double second(Index neuron) const {
    return neurons_[static_cast<std::size_t>(neuron)].second();
  }

 private:
  void know_node(Index j, int i);

  std::vector<NeuronDamping> neurons_;
  Vector scales_;
  int known_ = 0;
  Matrix logarithm_, upper_, inverse_, rise_;  ///< one column per neuron
};

}  // namespace mixcert
