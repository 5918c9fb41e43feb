// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law q_1 of the first affine layer at the inputs, stored so that it is the law of a Gaussian in spite of
// rounding (J.6).
#pragma once

#include <vector>

#include "certificate/trace_parts.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// What the first layer sees of inputs (columns).
struct FirstPoint {
  Vector point;  ///< s_0(features), neuron-major over inputs
  FirstLayerTrace trace;
};
FirstPoint first_point(const Network& network, ConstMatrixRef inputs);

struct FirstPush {
  Gaussian law;  ///< neuron-major over inputs; its covariance is positive semidefinite as stored
  FirstLayerTrace trace;
};
FirstPush push_first(const Network& network, ConstMatrixRef inputs);
/// One law for each input. Inputs share the products and get the bits that push_first gives them alone (R.7).
std::vector<FirstPush> push_first_separately(const Network& network, ConstMatrixRef inputs);

}  // namespace mixcert
