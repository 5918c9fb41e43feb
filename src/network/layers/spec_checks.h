// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checks of the numbers in layer specifications; geometry is checked by layer_shape.h.
#pragma once

#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// Sizes, finiteness and signs of tensors, rates, weights of mixtures. Layers inside a residual block or a
/// mixture are left to their own turn. Throws InvalidArgument.
void check_numbers(const LayerSpec& spec);

}  // namespace mixcert
