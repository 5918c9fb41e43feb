// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through H_j of (J.4).
#pragma once

#include "gradient/joint/neuron_gradient.h"
#include "methods/joint/cross_moments.h"

namespace mixcert {

/// `spread` is the symmetric derivative in H_j; adds to the derivatives in the neuron's moments.
void pull_spread(const CrossMoments& moments, Index j, const Matrix& spread, NeuronCotangent& neuron);

}  // namespace mixcert
