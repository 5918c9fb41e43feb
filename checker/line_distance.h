// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2 between a law on the line and N(0,1), docs/theory/stein.md (Y.5) to (Y.7).
#pragma once

#include "line_law.h"

namespace mixcert_check {

/// No less than W2(Y, Z).
Ball distance_to_normal(const LineLaw& law);

}  // namespace mixcert_check
