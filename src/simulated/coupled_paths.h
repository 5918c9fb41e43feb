// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of the coupling's cost: network and chain driven by the same normals, with a bound of each draw's
// rounding error in it, docs/theory/simulation.md (F.7).
#pragma once

#include "simulated/network_paths.h"

namespace mixcert {

/// No less than F^2 of each draw, F^2 = E[|y - yh|^2 | all normals but the last layer's]. The same numbers
/// whatever the number of threads.
Vector draw_costs(const CoupledChain& chain, const DrawPlan& plan, int threads, const CancelFlag* cancel);

/// Both sides given all normals but the last layer's, a column per draw, without bounds of their rounding: to
/// choose by.
struct CoupledOutputs {
  Matrix network, chain;  ///< conditional means
  Matrix variances;       ///< of the network
};
CoupledOutputs draw_coupled_outputs(const CoupledChain& chain, const DrawPlan& plan, int threads,
                                    const CancelFlag* cancel);

}  // namespace mixcert
