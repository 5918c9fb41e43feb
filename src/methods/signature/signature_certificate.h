// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The certificate of the signature method (M.2), evaluated from a sealed trace for one chain of metrics or,
// term by term, for the best of several; and what its local terms are made of (X.1).
#pragma once

#include <vector>

#include "certificate/certificate.h"
#include "certificate/contributions.h"
#include "certificate/sealed.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/network/network.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

/// Evaluates the certificate of a trace. `network` and `sensitivity` must be those of the trace.
Certificate evaluate_signature_certificate(const Network& network, const Sensitivity& sensitivity,
                                           const Sealed<SignatureTrace>& trace, CertificateForm form);

/// The terms of one hidden layer (1..K) alone, for planners that choose sizes.
LayerTerms evaluate_signature_layer(const Network& network, const Sensitivity& sensitivity,
                                    const Sealed<SignatureLayerTrace>& layer, Index layer_number,
                                    Index input_count, CertificateForm form);

/// Where the bound of `certificate` comes from; the other arguments are those that it was evaluated with.
BoundContributions signature_contributions(const Network& network, const Sensitivity& sensitivity,
                                           const Sealed<SignatureTrace>& trace,
                                           const Certificate& certificate);

}  // namespace mixcert
