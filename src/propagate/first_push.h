// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law q_1 of the first affine layer at the inputs, stored so that it is the law of a Gaussian in spite of
// rounding (J.6).
#pragma once

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

struct FirstPush {
  Gaussian law;             ///< neuron-major over inputs
  double input_norm = 0.0;  ///< no less than |x| and |s_0(x)|, all inputs together
  Vector raise;  ///< added to the variances of each neuron, summed over inputs; empty when nothing was
};

FirstPush push_first(const Network& network, ConstMatrixRef inputs);

}  // namespace mixcert
