// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method at one input, by any planner.
#pragma once

#include <string>

#include "mixcert/certify/moment_tracer.h"
#include "mixcert/network/network.h"
#include "mixcert/propagate/certify.h"
#include "mixcert/propagate/options.h"

namespace mixcert {

/// Which layer after the first has correlated outputs, in a sentence; empty when none has. One input: its
/// noise term is coarser (H.7) and its coupling is not simulated. Several inputs jointly: the moment method
/// does not cover it.
std::string correlated_layer(const Network& network);

/// `planner`, which throws Interrupted instead when services.cancel is set.
MomentPlanner interruptible(MomentPlanner planner, const Services& services);

Sealed<MomentTrace> propagate_moments(const Network& network, ConstVectorRef input,
                                      const MomentPlanner& planner, const Services& services);

}  // namespace mixcert
