// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method for a block of inputs that go through each layer together, each with its own law. Matrix
// products are shared; every input gets the bits that it would get alone (R.7).
#pragma once

#include <vector>

#include "mixcert/propagate/moment_propagate.h"
#include "propagate/first_push.h"

namespace mixcert {

/// One trace for each first law. The planner is asked for every layer and input.
std::vector<MomentTrace> propagate_block(const Network& network, const std::vector<FirstPush>& firsts,
                                         const MomentPlanner& planner, const Services& services);

}  // namespace mixcert
