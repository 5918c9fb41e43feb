// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The last hidden layer's term where its neurons are correlated by a weak signal, docs/theory/two_stage.md
// (Y.30): without the signal they are independent, and the law of one output can be computed (Y.1).
#pragma once

#include "mixcert/certify/moment_trace.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// W2 between the push of the last layer's piece and the output's Gaussian; infinite where (Y.30) does not
/// apply: one hidden layer, several outputs, pieces, masks, dependent weights, weights that are not Gaussian,
/// a neuron without noise of its own.
Upper signal_apart_distance(const Network& network, const MomentTrace& trace);

}  // namespace mixcert
