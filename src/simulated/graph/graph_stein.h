// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Stein's estimate for networks of every kind, by replicas, docs/theory/graphs.md (O.9): a number that
// estimates an upper bound of W2, and bounds nothing.
#pragma once

#include <optional>

#include "mixcert/certificate/services.h"
#include "simulated/graph/graph_coupling.h"

namespace mixcert {

/// The slope of all outputs in all normals at one draw: for each node a row for every normal of it and a
/// column for every output.
std::vector<Matrix> slopes_at(const LayerGraph& graph, ConstVectorRef input,
                              const BlockRandomness& randomness);

/// T^ = DF(xi_t) DF(xi)' from the slopes at both, outputs x outputs: its mean is the covariance of the
/// output.
Matrix stein_kernel(const std::vector<Matrix>& at_replica, const std::vector<Matrix>& at_draw);

/// Of W2 to coupling.mixture(); nothing behind dropout, whose masks jump, and where covariances are
/// singular.
std::optional<SteinEstimate> graph_stein_estimate(const LayerGraph& graph, const GraphCoupling& coupling,
                                                  const SimulationSettings& settings);

}  // namespace mixcert
