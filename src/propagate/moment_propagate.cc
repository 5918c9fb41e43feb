// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method for a caller's planner.
#include "mixcert/propagate/moment_propagate.h"

#include "certify/moment_error.h"
#include "mixcert/core/error.h"

namespace mixcert {

std::string correlated_layer(const Network& network) {
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    if (has_independent_outputs(layer)) continue;
    return "layer '" + layer.name() + "' has correlated outputs (weights " +
           std::string(family_name(layer.weights())) + ", bias " + std::string(family_name(layer.bias())) +
           ")";
  }
  return "";
}

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
