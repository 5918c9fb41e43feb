// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A statistical lower and upper bound of W2(p, q) for a certified result, to set beside the certificate.
#pragma once

#include <vector>

#include "mixcert/certify/certify.h"

namespace mixcert {

/// Gelbrich's lower bound from options.statistics samples of the network (C.2), or the dual one (C.6) where
/// that applies and is larger; the coupled simulation's upper bound where `trace` is given (C.3, C.5), NaN
/// where not. `inputs` has several columns for a joint law. One input runs on one thread, for inputs are what
/// certify() does in parallel; a joint law on options.threads.
TwoSidedStatistics two_sided_statistics(const Network& network, ConstMatrixRef inputs, Index input_index,
                                        const CouplingTrace& trace, const GaussianMixture& mixture,
                                        const Options& options, const CancelFlag* cancel = nullptr);

/// The same of an ensemble: the lower bound from samples of the ensemble, the upper one from the members'
/// coupled simulations, whose squares average with the weights (B.3); NaN unless every member has a trace.
TwoSidedStatistics two_sided_statistics(const Ensemble& ensemble, ConstMatrixRef inputs, Index input_index,
                                        const std::vector<CouplingTrace>& traces,
                                        const GaussianMixture& mixture, const Options& options,
                                        const CancelFlag* cancel = nullptr);

/// The same as what Services::statistics and Services::ensemble_statistics expect.
StatisticsService statistics_service(const CancelFlag* cancel = nullptr);
EnsembleStatisticsService ensemble_statistics_service(const CancelFlag* cancel = nullptr);

}  // namespace mixcert
