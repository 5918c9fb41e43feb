// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Centers and weights of a splitting rule of given size and width, close to the least W2 distance
// to N(0,1). Nothing here enters the proof: split_prover.h bounds whatever comes out.
#pragma once

#include "quantize/split_rule.h"

namespace mixcert::tools {

/// A rule found by Levenberg-Marquardt from `start` (whose width is ignored) and from the optimal
/// quantizer, contracted so that the mixture has variance one; the better of the two. `error` is an
/// estimate of its W2 distance. An empty `start` is left out.
SplitRule optimize_split(Index size, double width, const SplitRule& start);

}  // namespace mixcert::tools
