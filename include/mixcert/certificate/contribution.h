// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Where a bound comes from, docs/theory/explain.md: amounts per layer, source and neuron that add up to it
// (X.1). Evaluated from the trace, with the numbers of the certificate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// What an error is made of.
enum class Source {
  Activations,      ///< replaced by surrogates or grid points
  WeightNoise,      ///< of the next layer's weights, whose effect depends on the activations
  CorrelatedNoise,  ///< the same where the next layer's outputs are correlated
  Masks,            ///< dropout
  ReplacedWeights,  ///< weights of the next layer that are not Gaussian
  OutputLaw,        ///< the law of the output as a whole
  Compression,      ///< of the layer's mixture to fewer components
  Splitting,        ///< of its components into pieces
  Rounding,         ///< of all that was computed
};
std::string_view to_string(Source source);

struct Contribution {
  Source source = Source::Rounding;
  double amount = 0.0;
  Vector neurons;  ///< the amount by neurons of the layer; empty where it has no such parts
  Vector outputs;  ///< the amount by neurons of the next layer; likewise
};

struct LayerContributions {
  std::string title;   ///< what the network calls it, where it is a graph of operators
  double total = 0.0;  ///< the layer's part of the bound
  std::vector<Contribution> parts;
  /// Signatures: the amount of Source::Activations again, by direction: what no axis of the grids
  /// covers, then the axes in their order. Empty for surrogates.
  Vector directions;
};

struct BoundContributions {
  double bound = 0.0;
  double first =
      0.0;  ///< of the first layer: weights that are not Gaussian, how far the mixture was moved, rounding
  std::vector<LayerContributions> layers;
};

}  // namespace mixcert
