// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Asks whether long work is to stop.
#pragma once

#include "mixcert/core/error.h"
#include "mixcert/core/parallel.h"

namespace mixcert {

/// Throws Interrupted where the flag is set; null never is.
inline void stop_where_set(const CancelFlag* cancel) {
  if (cancel != nullptr && cancel->load()) throw Interrupted("interrupted");
}

}  // namespace mixcert
