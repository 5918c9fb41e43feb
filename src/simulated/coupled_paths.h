// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of the coupling's cost: network and chain driven by the same normals, with a bound of each draw's
// rounding error in it, docs/theory/simulation.md (F.7).
#pragma once

#include <cstdint>

#include "mixcert/core/parallel.h"
#include "simulated/coupled_chain.h"
#include "simulated/draws.h"

namespace mixcert {

/// Which draws: blocks of the same seed, use and input are independent of each other.
struct DrawPlan {
  std::uint64_t seed = 0;
  DrawUse use = DrawUse::Main;
  std::uint64_t input = 0;
  Index draws = 0;
};

/// No less than F^2 of each draw, F^2 = E[|y - yh|^2 | all normals but the last layer's]. The same numbers
/// whatever the number of threads.
Vector draw_costs(const CoupledChain& chain, const DrawPlan& plan, int threads, const CancelFlag* cancel);

}  // namespace mixcert
