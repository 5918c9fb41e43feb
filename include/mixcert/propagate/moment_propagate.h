// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method: affine, compression, splitting, surrogate, affine, ... from one input to a Gaussian
// mixture over the outputs, recording what the certificate needs.
#pragma once

#include <functional>

#include "mixcert/certify/moment_trace.h"
#include "mixcert/certify/sensitivity.h"
#include "mixcert/network/network.h"
#include "mixcert/propagate/certify.h"
#include "mixcert/propagate/options.h"

namespace mixcert {

/// Which layer after the first has correlated outputs, in a sentence; empty when none has. One input: its
/// noise term is coarser (H.7) and its coupling is not simulated. Several inputs jointly: the moment method
/// does not cover it.
std::string correlated_layer(const Network& network);

/// Chooses compression and splits of hidden layer `layer` (1..K); leaves `surrogates` empty.
using MomentPlanner = std::function<MomentLayerTrace(Index layer, GaussianMixture mixture)>;

MomentTrace propagate_moments(const Network& network, ConstVectorRef input, const MomentPlanner& planner,
                              const Services& services);

}  // namespace mixcert
