// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The joint moment method within the limits of memory and time.
#include "methods/joint/joint_propagate.h"

#include "methods/memory_guard.h"
#include "mixcert/core/error.h"

namespace mixcert {

Sealed<JointTrace> propagate_jointly(const Network& network, ConstMatrixRef inputs, const Options& options,
                                     const Services& services, RidgeRule rule, bool keep_neurons) {
  const MemoryGuard guard(options.max_memory_in_gib);
  guard.check_push(network.layer(0), 1, inputs.cols());
  const auto before_layer = [&](Index k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    guard.check_joint_moments(network.layer(k), inputs.cols());
  };
  return trace_jointly(network, inputs, {rule, keep_neurons, before_layer});
}

}  // namespace mixcert
