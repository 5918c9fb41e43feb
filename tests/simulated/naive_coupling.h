// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Network and chain from their definitions, draw by draw, and small networks to attack certificates by
// simulation with.
#pragma once

#include <cstdint>

#include "methods/moment/moment_tracer.h"
#include "mixcert/network/network.h"

namespace mixcert::testing {

/// A network at an input, and what the moment method leaves.
struct SimulatedCase {
  Network network;
  Vector input;
  Sealed<MomentTrace> trace;

  SimulatedCase(Network made, Vector at);
};

/// Widths 1 to 3, one to four hidden layers: means at kinks, cancelling and dead neurons, noise over two
/// decades, layers without noise.
/// The last layer has `outputs`, or one to three of them where that is zero.
SimulatedCase small_case(std::uint64_t seed, Index outputs = 0);
/// He-like random weights of `width` and depth, deviation `noise` of the fan-in scale.
SimulatedCase deep_case(Index width, Index depth, double noise, ActivationFunction function,
                        std::uint64_t seed, Index outputs = 10);

/// |v| of (F.6) as a function of all normals but the last layer's, in extended precision.
long double naive_cost(const SimulatedCase& at, const Vector& normals);
/// How many normals that takes.
Index naive_normal_count(const SimulatedCase& at);
/// The network's first output, as a function of the same normals and of one more for each output.
long double naive_output(const SimulatedCase& at, const Vector& normals);

}  // namespace mixcert::testing
