// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The additive certificate of the moment method over several inputs jointly (J.1): (H.4) with one Gaussian
// per layer, G (x) I_D in place of G.
#pragma once

#include "certificate/certificate.h"
#include "certificate/contributions.h"
#include "certificate/sealed.h"
#include "methods/joint/joint_trace.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// `sensitivity` and `error_norms` must be those of the network.
Certificate evaluate_joint_certificate(const Network& network, const Sensitivity& sensitivity,
                                       const ErrorNorms& error_norms, const Sealed<JointTrace>& trace);

/// Where the bound of `certificate` comes from; the other arguments are those that it was evaluated with.
BoundContributions joint_contributions(const Network& network, const ErrorNorms& error_norms,
                                       const Sealed<JointTrace>& trace, const Certificate& certificate);

}  // namespace mixcert
