// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The additive certificate of the moment method over several inputs jointly (J.1): (H.4) with one Gaussian
// per layer, G (x) I_D in place of G.
#pragma once

#include "mixcert/certify/carrier.h"
#include "mixcert/certify/certificate.h"
#include "mixcert/certify/joint_trace.h"

namespace mixcert {

/// `sensitivity` and `carriers` must be those of the network.
Certificate evaluate_joint_certificate(const Network& network, const Sensitivity& sensitivity,
                                       const Carriers& carriers, const Sealed<JointTrace>& trace);

}  // namespace mixcert
