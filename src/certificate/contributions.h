// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From a certificate to where its bound comes from (X.1): each method gives the summands of its local terms.
#pragma once

#include <functional>
#include <vector>

#include "certificate/certificate.h"
#include "mixcert/certificate/contribution.h"
#include "mixcert/core/types.h"

namespace mixcert {

/// A layer's local term is a sum of roots of sums of squares (X.1): the summands under one root, as the
/// certificate computes them. A list is empty where there are no such summands.
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

/// The roots that the local term of hidden layer k + 1 is the sum of, for the chain of metrics that `terms`
/// took.
using PartsOf = std::function<std::vector<RootParts>(std::size_t k, const LayerTerms& terms)>;

/// Not asked for terms about the law of the output as a whole.
BoundContributions contributions_of(const Certificate& certificate, const PartsOf& parts_of);

}  // namespace mixcert
