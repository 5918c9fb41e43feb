// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over all inputs jointly, one Gaussian per layer.
#pragma once

#include "methods/joint/joint_tracer.h"
#include "mixcert/certificate/options.h"
#include "mixcert/certificate/services.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Throws ResourceError where a layer's covariance would need too much memory.
Sealed<JointTrace> propagate_jointly(const Network& network, ConstMatrixRef inputs, const Options& options,
                                     const Services& services, RidgeRule rule = RidgeRule::Truncated,
                                     bool keep_neurons = false);

}  // namespace mixcert
