// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian surrogate of a piece's activations and its distance to them (H.1).
#pragma once

#include <vector>

#include "activation/gaussian_moments.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// Coordinates of `piece` are neuron * input_count + input.
SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece, Index input_count = 1);
/// The same from moments that are known already, one per coordinate.
SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece,
                           const std::vector<GaussianMoments>& moments);

}  // namespace mixcert
