// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The last hidden layer's term where its neurons are correlated by a weak signal, docs/theory/two_layers.md
// (Y.30): without the signal they are independent, and the law of one output can be computed (Y.1).
#pragma once

#include "methods/moment/situation.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// W2 between the push of the last layer's piece and the output's Gaussian, where (Y.30) may hold.
Upper weak_signal_distance(const Situation& situation);

}  // namespace mixcert
