// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which masks to enumerate: those whose randomness costs most at the output (D.4).
#pragma once

#include <vector>

#include "propagate/methods.h"

namespace mixcert {

/// At most `count` neurons of hidden layer `layer`, the most influential first; none without a Bernoulli
/// mask.
std::vector<Index> influential_masks(const Prepared& prepared, Index layer, const GaussianMixture& mixture,
                                     Index count);

}  // namespace mixcert
