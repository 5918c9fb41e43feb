// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A bound of W2 certified by simulation: it holds but for a stated probability over the program's own draws,
// for every number of draws, docs/theory/simulation.md (F.8).
#pragma once

#include <cstdint>

#include "methods/moment/moment_trace.h"
#include "mixcert/certificate/result.h"
#include "mixcert/core/parallel.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct SimulationSettings {
  Index draws = 100000;  ///< at most
  double failure_probability = 1e-9;
  std::uint64_t seed = 0;
  int threads = 1;
  const CancelFlag* cancel = nullptr;
};

/// `trace` is the moment method's for this network and input, its output the Gaussian; `first` bounds what
/// separates the network from one whose first pre-activations have the trace's law exactly (the certificate's
/// first term). simulation_refusal() of the network must be empty.
SimulatedBound simulated_bound(const Network& network, const MomentTrace& trace, double first,
                               std::uint64_t input, const SimulationSettings& settings);

}  // namespace mixcert
