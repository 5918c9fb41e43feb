// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The grids of one hidden layer, chosen by what its certificate will say: for every chain of
// metrics the cheapest grids, then the cheapest chain (S.6). Nothing certified depends on the
// choice.
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "quantize/signature.h"

namespace mixcert {

/// How one hidden layer is approximated.
struct Placement {
  /// Weights per coordinate, one vector per candidate chain; compression uses the first.
  std::vector<Vector> metrics;
  ActivationMap activation;
  Index input_count = 1;  ///< coordinates are neuron * input_count + input
  /// Does the certificate use local slopes (S.4)?
  bool refine = false;
  QuantizerFamily family = optimal_quantizer;
  /// Which of Sensitivity::metrics each of `metrics` belongs to; empty: they are none of them.
  std::vector<std::size_t> chains = {};
};

struct LayerGrids {
  std::vector<GridAxes> axes;  ///< one per component
  std::size_t metric = 0;      ///< which of the placement's metrics they were made for
};

/// Grids of the components with at most `points` points each.
LayerGrids layer_grids(const GaussianMixture& mixture, const Placement& placement, Index points);

}  // namespace mixcert
