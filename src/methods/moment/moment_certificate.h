// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The additive certificate of the moment method (H.4):
//     W2(p, q) <= sum_k  W_{G_k}(q_k, c_k) + W_{G_k}(c_k, pieces) + W_{G_{k+1}}(Phi_k pieces, q_{k+1})  +
//     rounding.
#pragma once

#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "methods/moment/moment_trace.h"
#include "methods/moment/theorem.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// `sensitivity` and `error_norms` must be those of the network.
Certificate evaluate_moment_certificate(const Network& network, const Sensitivity& sensitivity,
                                        const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace);

/// The terms of one hidden layer (1..K) alone, for planners that choose splits.
LayerTerms evaluate_moment_layer(const Network& network, const Sensitivity& sensitivity,
                                 const ErrorNorms& error_norms, const Sealed<MomentLayerTrace>& layer,
                                 Index layer_number);

/// Surrogates of all pieces, by the best of the layer's error norms: the local fields of `terms`.
void evaluate_local(const Network& network, const std::vector<ErrorNorm>& error_norms,
                    const MomentLayerTrace& layer, Index number, NoiseRule rule, LayerTerms& terms);

/// The summands of that (X.1), for the error norm that `terms` took.
std::vector<RootParts> moment_parts(const Situation& situation, Index number, const LayerTerms& terms,
                                    NoiseRule rule);

/// The theorems that the certificate starts with: (H.3), and (H.7) behind correlated weights.
Theorem coupling_theorem();
Theorem correlated_coupling_theorem();

}  // namespace mixcert
