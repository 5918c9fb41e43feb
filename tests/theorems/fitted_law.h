// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures fitted to the law of one output, on random networks of 64 neurons (Y.40).
#pragma once

#include "mixcert/core/types.h"

namespace mixcert::testing {

/// Bounds against brute force; prints how they are distributed.
void check_fitted_laws(Index count);

}  // namespace mixcert::testing
