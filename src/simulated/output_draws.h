// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of a network's one output, each as a range that holds the exact number: docs/theory/simulation.md
// (F.7).
#pragma once

#include "simulated/network_paths.h"

namespace mixcert {

/// Ends of the draws' ranges, each sorted: the k-th smallest draw lies between lower(k) and upper(k).
struct OutputDraws {
  Vector lower, upper;

  [[nodiscard]] Index count() const { return lower.size(); }
};

/// The network has one output.
OutputDraws draw_output(const CoupledChain& chain, const DrawPlan& plan, int threads,
                        const CancelFlag* cancel);

}  // namespace mixcert
