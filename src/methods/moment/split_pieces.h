// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The pieces that components are split into.
#pragma once

#include <vector>

#include "methods/moment/moment_trace.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

/// The pieces of a component: the product of the rules of all directions.
GaussianMixture split_component(const Gaussian& component, const std::vector<SplitDirection>& splits);

/// The pieces of all components in their order; one list of directions for each.
GaussianMixture split_components(const GaussianMixture& mixture,
                                 const std::vector<std::vector<SplitDirection>>& splits);

// What splitting the components of a layer's mixture costs (P.1).

/// What is added to the diagonal of a dense component before it is split, relative to the diagonal (H.6).
double split_slack(Index dimension);

/// Is C + split_slack diag(C) - sum_d u_d u_d' proven positive semidefinite? Without that the directions are
/// no part of the component and the cost (P.1) does not hold: a direction may be nothing but the rounding of
/// a singular C.
bool splits_fit(const Covariance& covariance, const std::vector<SplitDirection>& splits);

/// Bound of the distance of `after` and `pieces` in the metric scale^2 diag(g), rounding of the pieces
/// included; zero when nothing is split.
UpperBound split_distance(const MomentLayerTrace& layer, ConstVectorRef g, UpperBound scale);

}  // namespace mixcert
