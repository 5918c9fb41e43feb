// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How much a convolution can stretch, proven without its matrix: docs/theory/graphs.md (O.2).
#pragma once

#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// No less than the spectral norm of the convolution with the mean kernel.
double convolution_norm(const Conv2dSpec& spec);

}  // namespace mixcert
