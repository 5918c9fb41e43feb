// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2 between Gaussians with structured covariances, in a diagonal metric. The Bures
// term is never overestimated: tr sqrt of (diagonal + low rank) is bounded from below by
// a trapezoidal rule whose error is known exactly (T.3), so that the distance is bounded
// from above; no n x n eigenproblem is solved unless the covariance is dense. Of a low-rank part
// the eight longest columns count.
#pragma once

#include "mixcert/core/rounding.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// Upper bound of  inf E (x-y)' diag(metric) (x-y)  over couplings of the two Gaussians:
/// equal to it, up to the accuracy of (T.3), when at most one of the two has a low-rank
/// part; otherwise the best of the couplings of (T.4).
UpperBound gaussian_transport_cost(const Gaussian& a, const Gaussian& b, ConstVectorRef metric);

/// |m_a - m_b|^2 + Bures^2 for dense covariances: Gelbrich's lower bound of W2^2 for laws
/// with these moments, and the exact W2^2 for Gaussians. Not rounded outward.
double gelbrich_squared(ConstVectorRef mean_a, ConstMatrixRef covariance_a, ConstVectorRef mean_b,
                        ConstMatrixRef covariance_b);

/// Lower bound of  tr sqrt(diag(x) + Y Y') - sum_i sqrt(x_i), Y = all_columns (T.3).
double trace_sqrt_gain(ConstVectorRef x, ConstMatrixRef all_columns);

}  // namespace mixcert
