// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The dual bound integrated over samples of the mixture, for statements that have no closed form (U.6).
#pragma once

#include "mixcert/answer/answers.h"

namespace mixcert {

/// Both ends hold together but for options.failure_probability.
ProbabilityAnswer sampled_probability(const CertifiedLaw& law, const Statement& statement,
                                      const IntegrationOptions& options);

/// No less than W2 between `part`, outputs of `mixture`, and the law of its computed samples (U.6): the
/// entries of the part and the factor of its covariance are exact up to rounding, in trace norm, and so is
/// each sample.
double sampling_error(const GaussianMixture& mixture, const GaussianMixture& part);

}  // namespace mixcert
