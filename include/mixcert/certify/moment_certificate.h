// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The additive certificate of the moment method (H.4):
//     W2(p, q) <= sum_k  W_{G_k}(q_k, c_k) + W_{G_k}(c_k, pieces) + W_{G_{k+1}}(Phi_k pieces, q_{k+1})  +
//     rounding.
#pragma once

#include "mixcert/certify/carrier.h"
#include "mixcert/certify/certificate.h"
#include "mixcert/certify/moment_trace.h"

namespace mixcert {

/// `sensitivity` and `carriers` must be those of the network.
Certificate evaluate_moment_certificate(const Network& network, const Sensitivity& sensitivity,
                                        const Carriers& carriers, const Sealed<MomentTrace>& trace);

/// The same with local terms by the theorem that makes them smallest. All layers' also with convex noise
/// (Y.27). The last layer's, where neurons are independent, also by the law of the output itself (one output,
/// Y.1) or a Stein bound (several, Y.9), and where they are not, with the signal apart (one output, Y.30);
/// the first one's of two also by carrying it through the second layer given its inputs (Y.20), (Y.28).
Certificate sharpened_certificate(const Network& network, const Carriers& carriers,
                                  const Sealed<MomentTrace>& trace, Certificate certificate);

/// The terms of one hidden layer (1..K) alone, for planners that choose splits.
LayerTerms evaluate_moment_layer(const Network& network, const Sensitivity& sensitivity,
                                 const Carriers& carriers, const Sealed<MomentLayerTrace>& layer,
                                 Index layer_number);

}  // namespace mixcert
