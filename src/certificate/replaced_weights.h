// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weights that are not Gaussian are propagated as Gaussians of the same mean and variance; what that costs,
// docs/theory/weight-laws.md (W.1).
#pragma once

#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// R_l = sum over inputs of (sum_j D_lj E a_j^2 + D_bl), per output l, rounded up. `second_moments` are no
/// less than E a^2 at neuron * input_count + input.
Vector replaced_weight_errors(const DenseLayer& layer, ConstVectorRef second_moments, Index input_count);

}  // namespace mixcert
