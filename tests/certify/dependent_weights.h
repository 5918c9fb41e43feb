// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks whose weights depend on each other within a layer, of every family.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert::testing {

/// Checks `count` random networks against samples: bounds are not below lower bounds of the distance, and
/// deviations are the network's.
void check_dependent_weights(Index count, Index samples);

}  // namespace mixcert::testing
