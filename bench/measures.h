// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the benchmarks hold our times against: the matrix products that cannot be avoided, and Monte Carlo.
#pragma once

#include "mixcert/certificate/options.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Processor time of this thread: ratios then hold on a machine that others use too.
double processor_seconds();

/// The products of the moment method at a batch of inputs: means and variances of all layers for the whole
/// batch; for each input the covariances behind all hidden layers, of which the first has independent
/// neurons, and the two quadratic forms of Var S (H.2) where neurons are dependent. Returns a number that
/// depends on all of them.
double unavoidable_products(const Network& network, const Matrix& x);

/// Median time of `samples` Monte Carlo samples at one input, one thread.
double monte_carlo_seconds(const Network& network, Index samples = 10000, int repeats = 7);

/// Peak memory of this process so far.
double peak_memory_in_mib();

/// "784-128-10".
std::string width_text(const std::vector<Index>& widths);

}  // namespace mixcert
