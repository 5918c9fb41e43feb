// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian that the moment method puts in place of a piece's push through activation and layer (H.3).
#pragma once

#include "mixcert/certify/moment_trace.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// The layer must have independent outputs.
Gaussian push_surrogate(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law);

}  // namespace mixcert
