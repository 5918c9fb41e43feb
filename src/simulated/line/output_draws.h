// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of a network's outputs, each number as a range that holds the exact number: docs/theory/simulation.md
// (F.7).
#pragma once

#include <functional>
#include <vector>

#include "simulated/network_paths.h"

namespace mixcert {

/// Ends of the draws' ranges, each sorted: the k-th smallest draw lies between lower(k) and upper(k).
struct OutputDraws {
  Vector lower, upper;

  [[nodiscard]] Index count() const { return lower.size(); }
};

/// A row per output and a column per draw: values, and how far they may be from the exact ones.
struct DrawnOutputs {
  Matrix values, errors;
};
/// Of each output; `draw` makes a block.
std::vector<OutputDraws> sorted_outputs(const DrawPlan& plan, int threads, const CancelFlag* cancel,
                                        Index outputs,
                                        const std::function<DrawnOutputs(RandomBits&, Index)>& draw);

/// Of each output of the network.
std::vector<OutputDraws> draw_outputs(const CoupledChain& chain, const DrawPlan& plan, int threads,
                                      const CancelFlag* cancel);

}  // namespace mixcert
