// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The true network and the surrogate chain of the moment method, simulated side by side from the same
// randomness: E |y - y^|^2 of that coupling is no less than W2(p, q)^2, for every network and without any
// Lipschitz constant (C.3). An estimate of it is a statistic, never a certificate.
#pragma once

#include "methods/moment/moment_trace.h"
#include "mixcert/network/network.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/mean_bound.h"

namespace mixcert {

/// Draws of (y, y^): y has the law of the network's output at the input, y^ that of trace.output, to the
/// rounding that the trace's covariances contain. Outputs x samples each.
struct CoupledSamples {
  Matrix network;
  Matrix surrogate;
};

/// `trace` as the moment method recorded it for this network and input; layers after the first must have
/// independent weights. Deterministic for (options.seed, input_index), whatever the number of threads.
CoupledSamples simulate_coupled(const Network& network, ConstVectorRef input, Index input_index,
                                const MomentTrace& trace, const SimulationOptions& options);

struct CoupledDistance {
  MeanBound square;       ///< of |y - y^|^2
  double w2_upper = 0.0;  ///< root of square.upper: exceeds W2(p, q) with about 1 - failure_probability
};

CoupledDistance coupled_distance(const CoupledSamples& samples, double failure_probability);

}  // namespace mixcert
