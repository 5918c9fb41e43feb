// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Network and surrogate of the moment method over several inputs jointly, simulated side by side from the
// same randomness (C.5), and the surrogate carried on to any other law: E |y - y'|^2 of either coupling is no
// less than W2^2. An estimate of it is a statistic, never a certificate.
#pragma once

#include "methods/joint/joint_trace.h"
#include "mixcert/certify/certify.h"
#include "statistics/coupled_simulation.h"

namespace mixcert {

/// Draws of (y, y^): y has the joint law of the network's outputs at the columns of `inputs`, y^ that of
/// trace.output, to the rounding that the trace's covariances contain. Input-major, (inputs * outputs) x
/// samples. `trace` as the moment method recorded it for this network and these inputs. Deterministic for
/// options.seed, whatever the number of threads.
CoupledSamples simulate_coupled_jointly(const Network& network, ConstMatrixRef inputs,
                                        const JointTrace& trace, const SimulationOptions& options);

/// The coupling that a trace of certify() describes, which must not be empty.
CoupledSamples simulate_coupled(const Network& network, ConstMatrixRef inputs, Index input_index,
                                const CouplingTrace& trace, const SimulationOptions& options);

/// trace.output, input-major.
Gaussian joint_output(const JointTrace& trace);

/// Samples of `from` moved so that they have the law `to`: by the optimal map onto a component of `to`, drawn
/// by its weight. Rows are coordinates, columns samples.
Matrix carry_samples(ConstMatrixRef samples, const Gaussian& from, const GaussianMixture& to,
                     std::uint64_t seed);

}  // namespace mixcert
