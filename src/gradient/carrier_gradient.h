// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the carriers of (M.8): from what a local error says about metrics and Gram matrices
// back to the weights' means and variances (Z.4), (Z.5).
#pragma once

#include <vector>

#include "mixcert/certify/carrier.h"
#include "mixcert/gradient/network_gradient.h"

namespace mixcert {

/// Derivatives in what a CarriedNorm hands to the local error.
struct NormGradient {
  Vector metric;      ///< in the diagonal of Q
  Matrix gram;        ///< in M'QM, symmetric; empty where the local error did not use it
  Vector gram_roots;  ///< in `gram_roots`; empty where the local error did not use them
};

/// Hidden layer k used carriers[k-1][carrier]; derivatives of its norms. No norms: nothing to add.
struct CarrierGradient {
  std::size_t carrier = 0;
  std::vector<NormGradient> norms;
};

/// Adds to `gradient` what `carriers` (entry k-1 for hidden layer k) say; the carriers are those of
/// SensitivityMode::Closed, in its order. The semidefinite program has no derivatives: another index is
/// refused. The network must have passed require_differentiable.
void add_carrier_gradient(const Network& network, const std::vector<CarrierGradient>& carriers,
                          NetworkGradient& gradient);

/// Adds derivatives in variances; nothing where the layer has none: it keeps zeros.
void add_weight_variance(const DenseLayer& layer, ConstMatrixRef variance_bar, LayerGradient& gradient);
void add_bias_variance(const DenseLayer& layer, ConstVectorRef variance_bar, LayerGradient& gradient);

}  // namespace mixcert
