// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The output's covariances as they are handed out and stored: dense where they have a low-rank part (R.8).
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// Writes products of factors out, rounded and raised so that they stay positive semidefinite. Returns no
/// less than the W2 that this moves the mixture by: zero where nothing has a factor.
double settle_covariances(GaussianMixture& mixture);

}  // namespace mixcert
