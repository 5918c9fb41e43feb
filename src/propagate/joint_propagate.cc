// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md: affine, surrogate and noise, affine, ... at all inputs at once.
#include "propagate/joint_propagate.h"

#include <utility>

#include "certify/cross_moments.h"
#include "certify/joint_noise.h"
#include "certify/surrogate_law.h"
#include "mixcert/core/error.h"
#include "propagate/first_push.h"
#include "propagate/joint_push.h"
#include "propagate/memory_guard.h"

namespace mixcert {
JointTrace propagate_jointly(const Network& network, ConstMatrixRef inputs, const Options& options,
                             const Services& services, RidgeRule rule, bool keep_neurons) {
  JointTrace trace;
  trace.input_count = inputs.cols();
  const MemoryGuard guard(options.max_memory_in_gib);
  guard.check_push(network.layer(0), 1, trace.input_count);
  FirstPush first = push_first(network, inputs);
  trace.first = std::move(first.trace);
  Gaussian law = std::move(first.law);
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    const DenseLayer& next = network.layer(k);
    const ActivationMap& activation = network.activation(k);
    guard.check_joint_moments(next, trace.input_count);
    JointLayerTrace layer;
    const CrossMoments moments =
        cross_moments(activation, law, trace.input_count, keep_neurons ? &layer.neurons : nullptr);
    layer.surrogate = surrogate_law(activation, law, moments.coordinates);
    layer.noise = joint_noise(next, law, moments, rule);
    layer.law = std::move(law);
    law = push_jointly(next, trace.input_count, layer);
    trace.layers.push_back(std::move(layer));
  }
  trace.output = std::move(law);
  return trace;
}

}  // namespace mixcert
