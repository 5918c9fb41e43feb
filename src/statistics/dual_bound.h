// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A lower bound of W2(p, q) where the moments of p and q agree and Gelbrich's bound is zero: Kantorovich's
// dual with a cubic potential made of the network's third cumulants (C.6). A statistic, never a certificate.
#pragma once

#include <optional>

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct DualLowerBound {
  double lower = 0.0;       ///< W2 is at least this with about the confidence
  double linearised = 0.0;  ///< what a small distance would be, without margin and sampling
  double confidence = 0.0;
};

/// `samples` of the network at `input`, outputs x n, n >= 2. Nothing where (C.6) does not apply: it wants one
/// hidden layer with independent Gaussian weights and no masks, and a single Gaussian for q.
std::optional<DualLowerBound> dual_lower_bound(const Network& network, ConstVectorRef input,
                                               const GaussianMixture& mixture, ConstMatrixRef samples,
                                               double confidence = 0.999);

}  // namespace mixcert
