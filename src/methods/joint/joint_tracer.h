// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Traces of the moment method over several inputs jointly: affine, surrogate and noise, affine, ... at all
// inputs at once. Nothing is chosen but the rule that makes noise invertible.
#pragma once

#include <functional>

#include "certificate/sealed.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct JointTraceOptions {
  RidgeRule rule = RidgeRule::Truncated;
  bool keep_neurons = false;  ///< for derivatives
  /// Called, if set, before hidden layer `layer` (1..K); may throw.
  std::function<void(Index layer)> before_layer = {};
};

/// At the columns of `inputs`.
Sealed<JointTrace> trace_jointly(const Network& network, ConstMatrixRef inputs,
                                 const JointTraceOptions& options);

}  // namespace mixcert
