// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An upper confidence bound for a mean, from independent samples (C.4). Asymptotic: a statistic, never a
// certificate.
#pragma once

#include <optional>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct MeanBound {
  double mean = 0.0;
  double standard_error = 0.0;  ///< of the mean, from means of batches
  double upper = 0.0;           ///< the expectation is at most this with about 1 - failure_probability
  Index batches = 0;
};

/// No less than the quantile of Student's t with `freedom` >= 1 degrees that is exceeded with probability
/// `tail`, 0 < tail < 1; never negative (Wallace 1959).
double student_quantile_bound(double tail, Index freedom);

/// Batch means, Student's t and Hall's correction for skewness (C.4). Two values or more.
MeanBound mean_upper_bound(ConstVectorRef values, double failure_probability);

// A lower bound of W2(p, q) where the moments of p and q agree and Gelbrich's bound is zero: Kantorovich's
// dual with a cubic potential made of the network's third cumulants (C.6). A statistic, never a certificate.

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
