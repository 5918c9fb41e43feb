// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md, layer by layer.
#include "methods/joint/joint_tracer.h"

#include <utility>

#include "certificate/first_push.h"
#include "certificate/seal.h"
#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_noise.h"
#include "methods/memory_guard.h"
#include "methods/moment/surrogate_law.h"
#include "mixcert/core/error.h"

namespace mixcert {

Sealed<JointTrace> trace_jointly(const Network& network, ConstMatrixRef inputs,
                                 const JointTraceOptions& options) {
  JointTrace trace;
  trace.input_count = inputs.cols();
  FirstPush first = push_first(network, inputs);
  trace.first = std::move(first.trace);
  Gaussian law = std::move(first.law);
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    if (options.before_layer) options.before_layer(k);
    const DenseLayer& next = network.layer(k);
    const ActivationMap& activation = network.activation(k);
    JointLayerTrace layer;
    const CrossMoments moments =
        cross_moments(activation, law, trace.input_count, options.keep_neurons ? &layer.neurons : nullptr);
    layer.surrogate = surrogate_law(activation, law, moments.coordinates);
    layer.noise = joint_noise(next, law, moments, options.rule);
    layer.law = std::move(law);
    law = push_jointly(next, trace.input_count, layer);
    trace.layers.push_back(std::move(layer));
  }
  trace.output = std::move(law);
  return Seal::on(std::move(trace));
}

// The joint moment method within the limits of memory and time.

Sealed<JointTrace> propagate_jointly(const Network& network, ConstMatrixRef inputs, const Options& options,
                                     const Services& services, RidgeRule rule, bool keep_neurons) {
  const MemoryGuard guard(options.max_memory_in_gib);
  guard.check_push(network.layer(0), 1, inputs.cols());
  const auto before_layer = [&](Index k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    guard.check_joint_moments(network.layer(k), inputs.cols());
  };
  return trace_jointly(network, inputs, {rule, keep_neurons, before_layer});
}

}  // namespace mixcert
