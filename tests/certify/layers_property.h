// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What every certificate must satisfy on random networks with masks, neurons that pass unchanged and weights
// that are not Gaussian. The quick and the heavy test differ in numbers only.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert::testing {

/// The first `networks` cases with `samples` samples each and a summary line at the end.
void check_layer_properties(Index networks, Index samples);

}  // namespace mixcert::testing
