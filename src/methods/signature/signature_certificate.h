// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The certificate of the signature method (M.2), evaluated from a sealed trace for one chain of metrics or,
// term by term, for the best of several; what its local terms are made of (X.1), and the errors of one layer
// that they are the sums of.
#pragma once

#include <vector>

#include "certificate/certificate.h"
#include "certificate/contributions.h"
#include "certificate/sealed.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/network/network.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

// Mean-square errors of the activations of one layer, per coordinate and component, that a signature makes;
// any metric is then a weighted sum of them.

/// Entry (i, j): bound of E (s(z_i) - s(c_i))^2 in component j.
struct LocalErrors {
  Matrix nominal;
  Matrix upper;
};

/// Bound of E (s(z) - s(c))^2 for z ~ N(mean, deviation^2) and c its quantizer's location, by the
/// local slopes of every cell (S.4).
UpperBound coordinate_error(const Activation& activation, double mean, double deviation,
                            const NormalQuantizer& quantizer);

/// `refine`: use local slopes where the covariance is diagonal (A.3); otherwise l^2 times the
/// mean-square error of the pre-activation.
LocalErrors local_errors(const SignatureLayerTrace& layer, const ActivationMap& activation, Index input_count,
                         bool refine);

// What floating-point arithmetic adds to the error of a layer's signature: docs/theory/rounding.md (R.3),
// (R.5), (R.6).

/// Rounding of locations, directions, activation values and weights of a signature, measured
/// on the activations in diag(weights) (R.3), (R.5), (R.6).
double signature_rounding(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          ConstVectorRef weights);

/// Bound of the Euclidean norm of the activations of any signature point, all inputs together.
double activation_norm_bound(const SignatureLayerTrace& layer, const ActivationMap& activation);

// The certificate.

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
