// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over several inputs jointly, backwards: from its bound and its Gaussian to every weight's
// mean and variance, (Z.68).
#pragma once

#include "certificate/certificate.h"
#include "gradient/gaussian_gradient.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/gradient/objective.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// Adds to `gradient` the derivatives of  bound_weight * bound + <output, q>.  `error_norms` are those that
/// the certificate of `trace` was evaluated with, `inputs` those of the trace.
void add_joint_gradient(const Network& network, ConstMatrixRef inputs, const ErrorNorms& error_norms,
                        const JointTrace& trace, const Certificate& certificate, double bound_weight,
                        const GaussianGradient& output, NetworkGradient& gradient);

}  // namespace mixcert
