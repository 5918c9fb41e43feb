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

/// Why the moment method does not cover a network; empty when it does.
std::string moment_method_gap(const Network& network);

/// Chooses compression and splits of hidden layer `layer` (1..K); leaves `surrogates` empty.
using MomentPlanner = std::function<MomentLayerTrace(Index layer, const GaussianMixture& mixture)>;

MomentTrace propagate_moments(const Network& network, ConstVectorRef input, const MomentPlanner& planner,
                              const Services& services);

}  // namespace mixcert
