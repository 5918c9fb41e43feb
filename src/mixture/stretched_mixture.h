// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A mixture moved and stretched so that its mean and deviations are the network's (B.4).
#pragma once

#include "mixcert/core/rounding.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

struct StretchedMixture {
  GaussianMixture mixture;
  UpperBound moved;      ///< W2 between it and the mixture that it was made of
  Vector factor, shift;  ///< x became factor x + shift
};

/// With this mean and the wanted deviations of its outputs. Outputs whose deviation is zero on either side
/// keep theirs.
StretchedMixture with_moments(const Vector& mean, const Vector& wanted, const GaussianMixture& mixture);

}  // namespace mixcert
