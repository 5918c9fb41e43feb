// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An upper confidence bound for a mean, from independent samples (C.4). Asymptotic: a statistic, never a
// certificate.
#pragma once

#include "mixcert/core/types.h"

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

}  // namespace mixcert
