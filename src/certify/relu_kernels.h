// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Stein kernels of a ReLU neuron in closed form (Y.11).
#pragma once

#include "certify/neuron_kernels.h"

namespace mixcert {

/// Whether relu_kernels knows the neuron (m + s x)_+, s > 0.
bool has_relu_kernels(double m, double s);
/// Of (s (x - k))_+, k = -m/s as rounded: within `moved` of the neuron in L2.
NeuronKernels relu_kernels(double m, double s);

}  // namespace mixcert
