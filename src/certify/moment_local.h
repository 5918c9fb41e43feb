// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The local term of one hidden layer in the moment method's certificate (H.4).
#pragma once

#include <vector>

#include "certify/moment_error.h"
#include "mixcert/certify/certificate.h"

namespace mixcert {

/// Surrogates of all pieces, by the best of the layer's carriers: the local fields of `terms`.
void evaluate_local(const Network& network, const std::vector<Carrier>& carriers,
                    const MomentLayerTrace& layer, Index number, NoiseRule rule, LayerTerms& terms);

/// How the layer's noise depends on its activations. Convex where (Y.27) may be used.
NoiseRule noise_rule(const Network& network, const MomentTrace& trace, Index number);

}  // namespace mixcert
