// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mean and covariance of the output to second order in the correlation of neurons (N.4), layer by layer. A
// choice: bounds rest on the surrogate's chain, and what separates the two is charged (B.4).
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// `first`: the law of the first hidden layer's pre-activations.
Gaussian second_order_output(const Network& network, Gaussian first);

}  // namespace mixcert
