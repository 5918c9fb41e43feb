// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Standard normal numbers, the same on every platform for a given generator state.
#pragma once

#include "mixcert/core/rng.h"
#include "mixcert/core/types.h"

namespace mixcert {

/// Fills `out` with independent standard normals, column by column.
void fill_normal(Generator& generator, Eigen::Ref<Matrix> out);

}  // namespace mixcert
