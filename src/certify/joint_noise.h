// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The noise of a layer with independent weights at several inputs jointly, (J.3) to (J.5): the D x D
// covariance S_l(a) = beta_l 11' + sum_j V_lj a_j a_j' of an output depends on the activations and is
// replaced by a constant T_l. Treating inputs one by one would be wrong: identical inputs would cost nothing.
#pragma once

#include "certify/cross_moments.h"
#include "mixcert/certify/joint_trace.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// Chooses T_l and bounds what it costs. `law` is that of the pre-activations behind `moments`.
JointNoise joint_noise(const DenseLayer& next, const Gaussian& law, const CrossMoments& moments,
                       RidgeRule rule = RidgeRule::LeastBound);

}  // namespace mixcert
