// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a joint law and its surrogate say about one of the inputs.
#pragma once

#include "methods/joint/joint_trace.h"

namespace mixcert {

/// Entries neuron * D + input of one input.
Vector at_input(const Vector& values, Index input, Index input_count);
SurrogateLaw surrogate_at_input(const SurrogateLaw& law, Index input, Index input_count);
Gaussian law_at_input(const Gaussian& law, Index input, Index input_count);

/// Is every neuron independent of the others?
bool has_independent_neurons(const Covariance& covariance, Index input_count);

}  // namespace mixcert
