// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A layer's local term is a sum of roots of sums of squares (X.1). Here are the summands, as the certificate
// computes them; contributions to the bound are made from them.
#pragma once

#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// Summands under one root. A list is empty where there are no such summands.
struct SquareParts {
  Vector activations;       ///< per neuron: (H.1), or (S.1) and (S.4)
  Vector correlated_noise;  ///< per neuron, (H.7)
  Vector masks;             ///< per neuron: (D.3), or (D.5) and (D.6)
  Vector noise;             ///< per output of the next layer, (H.2)
  Vector replaced;          ///< per output of the next layer, (W.1)
  Vector noise_neurons;     ///< `noise` again, by the layer's own neurons (X.2)
  /// Signatures: `activations` again, by direction: what no axis of the grids covers, then the axes.
  Vector directions;

  /// Adds `weight` times other parts.
  void add(double weight, const SquareParts& other);
  /// Each summand once: without `noise_neurons` and `directions`.
  [[nodiscard]] double sum() const;
};

/// factor (sum of the parts)^{1/2}.
struct RootParts {
  double factor = 1.0;
  SquareParts parts;
};

}  // namespace mixcert
