// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The integral over the Ornstein-Uhlenbeck flow (Y.12).
#pragma once

#include "certify/noise_ladder.h"
#include "certify/stein_sums.h"

namespace mixcert {

/// W2 to the Gaussian by the best mix of first order and higher orders.
double stein_flow(const SteinNorms& norms, const NoiseLadder& ladder);

}  // namespace mixcert
