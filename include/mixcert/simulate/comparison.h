// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Estimates of W2(p, q) from samples of p: the empirical W2 with its floor, and
// Gelbrich's lower bound with its upward bias removed. These are statistics, not bounds
// that hold for certain; their names say so.
#pragma once

#include <cstdint>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

struct EmpiricalDistance {
  double distance = 0.0;  ///< empirical W2 between n samples of p and n of q
  double floor = 0.0;     ///< the same estimator on two samples of q: what zero looks like
};

/// `samples`: dimension x n, drawn from p.
EmpiricalDistance empirical_distance(ConstMatrixRef samples, const GaussianMixture& mixture,
                                     std::uint64_t seed, std::uint64_t index);

struct GelbrichLowerBound {
  double plug_in = 0.0;  ///< Gelbrich distance of the estimated moments (biased upward)
  double bias = 0.0;     ///< `confidence` quantile of the estimate's distance to itself under resampling
  double lower = 0.0;    ///< max(0, plug_in - bias)
  double confidence = 0.0;
};

/// W2_lower = Gelbrich(moments of samples, moments of mixture) - bootstrap quantile of
/// Gelbrich(resampled moments, moments of samples): triangle inequality, (C.2). Resamples
/// batches of samples; asymptotic confidence.
GelbrichLowerBound gelbrich_lower_bound(ConstMatrixRef samples, const GaussianMixture& mixture,
                                        std::uint64_t seed, std::uint64_t index, double confidence = 0.999);

}  // namespace mixcert
