// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lines 2 to 4 of the paper's algorithm for one hidden layer: compression, its coupling, and the
// grids. The propagator and the planner of sizes share it.
#pragma once

#include "mixcert/certify/sensitivity.h"
#include "mixcert/certify/signature_tracer.h"
#include "mixcert/propagate/propagate.h"
#include "propagate/layer_grids.h"

namespace mixcert {

/// Metrics, quantizers and refinement that the options ask for at hidden layer `layer` (1..K).
Placement place_layer(const Network& network, const Sensitivity& sensitivity, const Options& options,
                      Index layer, Index input_count);

/// All but the masks.
SignatureChoices approximate_layer(const GaussianMixture& mixture, const LayerSizes& sizes,
                                   const Placement& placement, const Options& options,
                                   const Services& services);

}  // namespace mixcert
