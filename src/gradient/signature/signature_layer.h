// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One hidden layer of the signature method, backwards: from derivatives in the mixture behind the layer to
// those in the mixture in front of it (Z.20).
#pragma once

#include <vector>

#include "certificate/certificate.h"
#include "gradient/chain_gradient.h"
#include "gradient/gaussian_gradient.h"

namespace mixcert {

/// What the layers share.
struct SignatureSweep {
  const Network& network;
  const Sensitivity& sensitivity;
  Index input_count;
  bool refine;          ///< were local slopes used?
  double bound_weight;  ///< of the bound in the number that is differentiated
};

/// `behind`: derivatives in the components of q_{k+1}. Returns those in the components of q_k; adds to
/// `chains` and `gradient` what the layer's terms and its affine map say.
std::vector<GaussianGradient> pull_back_layer(const SignatureSweep& sweep, Index k,
                                              const SignatureLayerTrace& layer, const LayerTerms& terms,
                                              const std::vector<GaussianGradient>& behind,
                                              ChainGradient& chains, NetworkGradient& gradient);

}  // namespace mixcert
