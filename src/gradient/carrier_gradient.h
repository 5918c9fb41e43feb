// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the carriers of (M.8): from what a local error says about metrics and Gram matrices
// back to the weights' means and variances.
#pragma once

#include <vector>

#include "mixcert/certify/carrier.h"
#include "mixcert/gradient/network_gradient.h"

namespace mixcert {

/// Derivatives in what a CarriedNorm hands to the local error.
struct NormGradient {
  Vector metric;  ///< in the diagonal of Q
  Matrix gram;    ///< in M'QM, symmetric; empty where the local error did not use it
};

/// Hidden layer k used carriers[k-1][carrier]; derivatives of its norms.
struct CarrierGradient {
  std::size_t carrier = 0;
  std::vector<NormGradient> norms;
};

/// Adds to `gradient` what `carriers` (entry k-1 for hidden layer k) say. `mode` as in make_carriers; Sdp has
/// no derivatives and is refused.
void add_carrier_gradient(const Network& network, const std::vector<CarrierGradient>& carriers,
                          NetworkGradient& gradient);

}  // namespace mixcert
