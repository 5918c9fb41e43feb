// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What floating-point arithmetic adds to the error of a layer's signature: docs/theory/rounding.md (R.3),
// (R.5), (R.6).
#pragma once

#include "methods/signature/signature_trace.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// Rounding of locations, directions, activation values and weights of a signature, measured
/// on the activations in diag(weights) (R.3), (R.5), (R.6).
double signature_rounding(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          ConstVectorRef weights);

/// Bound of the Euclidean norm of the activations of any signature point, all inputs together.
double activation_norm_bound(const SignatureLayerTrace& layer, const ActivationMap& activation);

}  // namespace mixcert
