// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Expectations under a mixture that have no closed form: means over independent samples, with intervals that
// hold for every number of samples but for a stated probability (U.10). Not asymptotic, unlike (C.4): the
// functions are bounded. The generator's numbers count as independent and uniform.
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/answer/interval.h"
#include "mixcert/core/types.h"

namespace mixcert {

struct IntegrationOptions {
  /// Samples of the mixture per law; widths fall like 1/sqrt(samples).
  Index samples = 100000;
  /// Of all intervals of one law together: the chance that one of them misses the mixture's value.
  double failure_probability = 1e-9;
  std::uint64_t seed = 0;
};

/// Means of functions with values in [0, 1] over independent samples (functions x samples, two samples or
/// more), as intervals that all hold together but for `failure_probability` (U.10). The estimate is the
/// sample mean. Throws InvalidArgument where a value lies outside.
std::vector<Interval> sampled_means(ConstMatrixRef values, double failure_probability);

}  // namespace mixcert
