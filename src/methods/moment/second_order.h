// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mean and covariance of the output to second order in the correlation of neurons (N.4), layer by layer. A
// choice: bounds rest on the surrogate's chain, and what separates the two is charged (B.4).
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Of the output; covariances of different outputs are not among them.
struct OutputMoments {
  Vector mean, variances;
};

/// `first`: the law of the first hidden layer's pre-activations. Where few random numbers are behind all of
/// them (the kernels of a random convolution) neurons are far from jointly Gaussian: moments given these
/// numbers are averaged over them then.
OutputMoments second_order_moments(const Network& network, const Gaussian& first);

}  // namespace mixcert
