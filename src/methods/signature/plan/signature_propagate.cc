// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Choices for every layer of the paper's algorithm, within the limits of memory and time.
#include "methods/signature/plan/signature_propagate.h"

#include "methods/memory_guard.h"
#include "methods/signature/plan/approximate_layer.h"
#include "mixcert/core/error.h"

namespace mixcert {

Sealed<SignatureTrace> propagate(const Network& network, ConstMatrixRef inputs,
                                 const Sensitivity& sensitivity, const Options& options,
                                 const SizePlanner& planner, const Services& services) {
  const MemoryGuard guard(options.max_memory_in_gib);
  guard.check_push(network.layer(0), 1, inputs.cols());
  const auto choose = [&](Index k, const GaussianMixture& mixture) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    const LayerSizes sizes = planner(k, mixture);
    const Placement placement = place_layer(network, sensitivity, options, k, inputs.cols());
    guard.check_signature(mixture, sizes.components, sizes.points, options.method == Method::Cross);
    SignatureChoices choices = approximate_layer(mixture, sizes, placement, options, services);
    // Masks are enumerated within the number of points that signatures may have.
    const Index components = options.components > 0 ? options.components : mixture.size();
    choices.masks = {placement.metrics.front(), options.signature_size * components,
                     options.certificate == CertificateMode::Paper};
    return choices;
  };
  const auto before_push = [&](Index k, Index points) {
    guard.check_push(network.layer(k), points, inputs.cols());
  };
  return trace_signatures(network, inputs, {choose, before_push});
}

}  // namespace mixcert
