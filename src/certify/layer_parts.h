// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The roots that each certificate's local terms are sums of, for the chain of metrics that `terms` took.
#pragma once

#include <vector>

#include "certify/square_parts.h"
#include "mixcert/certify/carrier.h"
#include "mixcert/certify/certificate.h"
#include "mixcert/certify/joint_trace.h"
#include "mixcert/certify/moment_trace.h"

namespace mixcert {

std::vector<RootParts> moment_parts(const Network& network, const Carriers& carriers,
                                    const MomentLayerTrace& layer, Index number, const LayerTerms& terms);
std::vector<RootParts> joint_parts(const Network& network, const Carriers& carriers,
                                   const JointLayerTrace& layer, Index number, Index input_count,
                                   const LayerTerms& terms);
std::vector<RootParts> signature_parts(const Network& network, const Sensitivity& sensitivity,
                                       const LayerTrace& layer, Index number, Index input_count,
                                       CertificateForm form, const LayerTerms& terms);

}  // namespace mixcert
