// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The local error of the last layer for one output, by the law of the output itself (Y.1).
#pragma once

#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// W2 between the true push of `piece` through activation and layer and the Gaussian `pushed`. `law` has the
/// moments of the activations. Infinite where (Y.1) does not apply: several outputs, dependent neurons, a
/// bias without noise, and so on. Weights that are not Gaussian count as the Gaussians that stand for them.
Upper output_law_distance(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                          const SurrogateLaw& law, const Gaussian& pushed);

}  // namespace mixcert
