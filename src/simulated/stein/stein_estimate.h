// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What Stein's method makes of W2 at every depth: an estimate from draws, far below what a coupling costs,
// and no bound. It must not be shown without a certified bound beside it: a neuron that is active once in
// 50,000 draws makes it nearly zero. docs/theory/simulation.md (F.15), (F.16).
#pragma once

#include <optional>

#include "simulated/simulated_bound.h"

namespace mixcert {

/// Of W2 between the network and the request's one Gaussian; nothing where its covariance is singular.
std::optional<SteinEstimate> stein_estimate(const SimulationRequest& request, const CoupledChain& chain,
                                            const SimulationSettings& settings);

}  // namespace mixcert
