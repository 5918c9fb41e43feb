// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How small the noise of a layer's weights may be, which depends on the activations: S_l(a) = B_l + sum_j
// V_lj a_j^2 falls below a fraction of its mean with a probability that is bounded by Chernoff's inequality
// (Y.12).
#pragma once

#include <vector>

#include "certify/neuron_kernels.h"
#include "mixcert/activation/activation_map.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// What is known of the noise S(a) of the layer's weights and bias, Sb its mean.
struct NoiseLadder {
  Vector shares;  ///< root Sb root' >= diag(shares) where root C root' >= I
  /// P(S_l(a) < z Sb_l for some l) <= probability, levels z falling; below the last one nothing happens: its
  /// probability is 0.
  struct Step {
    double level, probability;
  };
  std::vector<Step> steps;
};

/// `noise` is no more than Sb.
NoiseLadder noise_ladder(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                         const std::vector<NeuronKernels>& kernels, const Vector& noise,
                         const Vector& shares);

}  // namespace mixcert
