// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Upper bounds of the W2 distance between N(0,1) and a symmetric mixture of normals of one width.
// Theory: docs/theory/splitting.md (P.2) and (P.4).
#pragma once

#include "quantize/split_rule.h"

namespace mixcert::tools {

/// A number no less than W2(N(0,1), mixture), the weights divided by their exact sum. The cost is
/// proportional to `cells_per_width`, the excess over the true distance inversely so. `rule.error`
/// is not read. Throws InvalidArgument outside the ranges of (P.2a).
double prove_split_error(const SplitRule& rule, int cells_per_width);

}  // namespace mixcert::tools
