// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method for a caller's planner.
#include "methods/moment/moment_propagate.h"

#include "mixcert/core/error.h"

namespace mixcert {

MomentPlanner interruptible(MomentPlanner planner, const Services& services) {
  return
      [planner = std::move(planner), cancel = services.cancel](Index layer, const GaussianMixture& mixture) {
        if (cancel != nullptr && cancel->load()) throw Interrupted("interrupted");
        return planner(layer, mixture);
      };
}

Sealed<MomentTrace> propagate_moments(const Network& network, ConstVectorRef input,
                                      const MomentPlanner& planner, const Services& services) {
  return MomentTracer(network, input).trace(0, interruptible(planner, services));
}

}  // namespace mixcert
