// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of a network's outputs, each number as a range that holds the exact number: docs/theory/simulation.md
// (F.7).
#pragma once

#include <vector>

#include "simulated/network_paths.h"

namespace mixcert {

/// Ends of the draws' ranges, each sorted: the k-th smallest draw lies between lower(k) and upper(k).
struct OutputDraws {
  Vector lower, upper;

  [[nodiscard]] Index count() const { return lower.size(); }
};

/// Of each output of the network.
std::vector<OutputDraws> draw_outputs(const CoupledChain& chain, const DrawPlan& plan, int threads,
                                      const CancelFlag* cancel);

}  // namespace mixcert
