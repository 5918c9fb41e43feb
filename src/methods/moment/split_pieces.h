// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The pieces that components are split into.
#pragma once

#include <vector>

#include "methods/moment/moment_trace.h"

namespace mixcert {

/// The pieces of a component: the product of the rules of all directions.
GaussianMixture split_component(const Gaussian& component, const std::vector<SplitDirection>& splits);

/// The pieces of all components in their order; one list of directions for each.
GaussianMixture split_components(const GaussianMixture& mixture,
                                 const std::vector<std::vector<SplitDirection>>& splits);

}  // namespace mixcert
