// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over several inputs jointly, backwards: from its bound and its Gaussian to every weight's
// mean and variance, (Z.68).
#pragma once

#include "gradient/gaussian_gradient.h"
#include "mixcert/certify/carrier.h"
#include "mixcert/certify/certificate.h"
#include "mixcert/certify/joint_trace.h"
#include "mixcert/gradient/network_gradient.h"

namespace mixcert {

/// Adds to `gradient` the derivatives of  bound_weight * bound + <output, q>.  `carriers` are those that the
/// certificate of `trace` was evaluated with, `inputs` those of the trace.
void add_joint_gradient(const Network& network, ConstMatrixRef inputs, const Carriers& carriers,
                        const JointTrace& trace, const Certificate& certificate, double bound_weight,
                        const GaussianGradient& output, NetworkGradient& gradient);

}  // namespace mixcert
