// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method at one input, by any planner.
#pragma once

#include <string>

#include "methods/moment/moment_tracer.h"
#include "mixcert/certificate/options.h"
#include "mixcert/certificate/services.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// `planner`, which throws Interrupted instead when services.cancel is set.
MomentPlanner interruptible(MomentPlanner planner, const Services& services);

Sealed<MomentTrace> propagate_moments(const Network& network, ConstVectorRef input,
                                      const MomentPlanner& planner, const Services& services);

}  // namespace mixcert
