// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The first of two hidden layers: what its surrogate costs at the output, docs/theory/two_layers.md (Y.20).
// (M.8) carries a difference of pre-activations at worst signs; given the first layer's inputs the second
// layer's neurons are independent, so their errors add with signs in the mean and without cross terms around
// it.
#pragma once

#include <cmath>

#include "methods/moment/theorem.h"
#include "mixcert/network/network.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// Infinite where a theorem does not apply: other than two hidden layers, pieces, masks, dependent neurons or
/// weights, weights that are not Gaussian, a neuron of the second layer without noise.
struct TwoLayerDistance {
  /// W2, at the output, between the push of the first layer's piece and that of the Gaussian that stands for
  /// it (Y.20).
  UpperBound first{INFINITY, INFINITY};
  /// W2 between the push of the first layer's piece and the output's Gaussian: both layers' errors (Y.28).
  UpperBound both{INFINITY, INFINITY};
};

/// Where (Y.20) may hold. `both`: (Y.28) too.
TwoLayerDistance two_layer_distance(const Situation& situation, bool both);

}  // namespace mixcert
