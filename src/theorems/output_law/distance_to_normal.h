// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2 between the law of a sum of independent neurons and N(0,1), from its distribution function on a grid
// (Y.5) - (Y.7).
#pragma once

#include "mixcert/core/rounding.h"
#include "theorems/output_law/distribution_series.h"

namespace mixcert {

/// Infinite where the theorem does not apply: no noise of the bias, too little noise, tails too heavy.
UpperBound distance_to_normal(const OutputLaw& law);

}  // namespace mixcert
