// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a joint law and its surrogate say about one of the inputs.
#pragma once

#include <functional>

#include "certificate/sealed.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/certificate/options.h"
#include "mixcert/certificate/services.h"
#include "mixcert/network/dense_layer.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Entries neuron * D + input of one input.
Vector at_input(const Vector& values, Index input, Index input_count);
SurrogateLaw surrogate_at_input(const SurrogateLaw& law, Index input, Index input_count);
Gaussian law_at_input(const Gaussian& law, Index input, Index input_count);

/// Is every neuron independent of the others?
bool has_independent_neurons(const Covariance& covariance, Index input_count);

// The Gaussian that the moment method puts in place of a layer's outputs at several inputs jointly (J.1).

/// q_{k+1} from the law, the surrogate and the noise in `layer`, whose majorant is filled in.
Gaussian push_jointly(const DenseLayer& next, Index input_count, JointLayerTrace& layer);

// Traces of the moment method over several inputs jointly: affine, surrogate and noise, affine, ... at all
// inputs at once. Nothing is chosen but the rule that makes noise invertible.

struct JointTraceOptions {
  RidgeRule rule = RidgeRule::Truncated;
  bool keep_neurons = false;  ///< for derivatives
  /// Called, if set, before hidden layer `layer` (1..K); may throw.
  std::function<void(Index layer)> before_layer = {};
};

/// At the columns of `inputs`.
Sealed<JointTrace> trace_jointly(const Network& network, ConstMatrixRef inputs,
                                 const JointTraceOptions& options);

// The moment method over all inputs jointly, one Gaussian per layer.

/// Throws ResourceError where a layer's covariance would need too much memory.
Sealed<JointTrace> propagate_jointly(const Network& network, ConstMatrixRef inputs, const Options& options,
                                     const Services& services, RidgeRule rule = RidgeRule::Truncated,
                                     bool keep_neurons = false);

}  // namespace mixcert
