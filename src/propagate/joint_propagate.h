// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over all inputs jointly, one Gaussian per layer.
#pragma once

#include "mixcert/certify/joint_tracer.h"
#include "mixcert/network/network.h"
#include "mixcert/propagate/certify.h"
#include "mixcert/propagate/options.h"

namespace mixcert {

/// Throws ResourceError where a layer's covariance would need too much memory.
Sealed<JointTrace> propagate_jointly(const Network& network, ConstMatrixRef inputs, const Options& options,
                                     const Services& services, RidgeRule rule = RidgeRule::Truncated,
                                     bool keep_neurons = false);

}  // namespace mixcert
