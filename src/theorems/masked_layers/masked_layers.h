// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (D.17) for the traces of the moment method: the first two hidden layers of a network whose weights there
// are deterministic, with dropout masks, against the Gaussians that stand for the third layer's inputs, or
// against Gaussians with the moments of (D.17) itself. Leaves of enumerated masks are treated one by one
// (D.19).
#pragma once

#include <cmath>
#include <optional>

#include "methods/moment/theorem.h"

namespace mixcert {

/// Between the push of the first hidden layer's inputs through two layers and what stands for it, carried to
/// the output by the norms of the second layer; infinite where there is no bound.
struct MaskedLayersDistance {
  UpperBound w2{INFINITY, INFINITY};
  UpperBound w1{INFINITY, INFINITY};
  /// Gaussians with the network's means and deviations, one for each component of the trace's output.
  std::optional<FittedOutput> own;
};

/// Preconditions of (D.17) must hold. `with_own`: the network has two hidden layers, and its output may be
/// another mixture than the trace's.
MaskedLayersDistance masked_layers_distance(const Situation& situation, bool with_own);

}  // namespace mixcert
