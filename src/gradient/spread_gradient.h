// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through H_j of (J.4).
#pragma once

#include "certify/cross_moments.h"
#include "gradient/neuron_gradient.h"

namespace mixcert {

/// `spread` is the symmetric derivative in H_j; adds to the derivatives in the neuron's moments.
void pull_spread(const CrossMoments& moments, Index j, const Matrix& spread, NeuronCotangent& neuron);

}  // namespace mixcert
