// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian surrogate of a piece's activations and its distance to them (H.1).
#pragma once

#include "mixcert/activation/activation.h"
#include "mixcert/certify/moment_trace.h"

namespace mixcert {

SurrogateLaw surrogate_law(const Activation& activation, const Gaussian& piece);

}  // namespace mixcert
