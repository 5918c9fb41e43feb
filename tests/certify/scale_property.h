// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What certificates must satisfy at every scale: layers multiplied by powers of two that cancel leave a bound
// as it was, and no scale brings a bound below the truth. A network may be refused instead. The quick and the
// heavy test differ in numbers only.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert::testing {

/// The first `networks` cases (or MIXCERT_PROPERTY_NETWORKS of them), with a summary line at the end.
void check_scale_properties(Index networks, Index samples);

}  // namespace mixcert::testing
