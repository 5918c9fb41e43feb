// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through (N.2): a point pushed through a dense layer with independent weights, (Z.26).
#pragma once

#include "gradient/cotangents.h"
#include "mixcert/gradient/objective.h"

namespace mixcert {

/// Adds to `gradient` and returns the derivatives in the point (activations, neuron-major over inputs).
/// `bar`: derivatives in the law of the layer's outputs.
Vector pull_back_push(const DenseLayer& layer, ConstVectorRef point, Index input_count,
                      const GaussianGradient& bar, LayerGradient& gradient);

}  // namespace mixcert
