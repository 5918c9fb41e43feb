// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lines 2 to 4 of the paper's algorithm for one hidden layer: compression, its coupling, and the
// grids. The propagator and the planner of sizes share it.
#pragma once

#include "methods/signature/plan/layer_grids.h"
#include "methods/signature/plan/signature_propagate.h"
#include "methods/signature/signature_tracer.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

/// Metrics, quantizers and refinement that the options ask for at hidden layer `layer` (1..K).
Placement place_layer(const Network& network, const Sensitivity& sensitivity, const Options& options,
                      Index layer, Index input_count);

/// All but the masks.
SignatureChoices approximate_layer(const GaussianMixture& mixture, const LayerSizes& sizes,
                                   const Placement& placement, const Options& options,
                                   const Services& services);

}  // namespace mixcert
