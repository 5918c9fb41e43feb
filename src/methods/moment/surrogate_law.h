// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian surrogate of a piece's activations and its distance to them (H.1).
#pragma once

#include <vector>

#include "activation/gaussian_moments.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/network/dense_layer.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Coordinates of `piece` are neuron * input_count + input.
SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece, Index input_count = 1);
/// The same from moments that are known already, one per coordinate.
SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece,
                           const std::vector<GaussianMoments>& moments);

// Surrogates of masked activations, docs/theory/dropout.md (D.3), (D.4).

/// The law of the masked activations from that of the activations. Masks that `leaf` knows take their values,
/// the others are random. Returns `law` itself where there is no mask.
SurrogateLaw masked_law(SurrogateLaw law, const Mask& mask, const MaskLeaf& leaf);

/// Fills `surrogates` of a layer whose pieces and enumerated masks are known.
void add_surrogates(const ActivationMap& activation, const Mask& mask, MomentLayerTrace& layer);

/// Weights of the components that a layer pushes: piece * masks.size() + leaf.
Vector pushed_weights(const MomentLayerTrace& layer);

// The Gaussian that the moment method puts in place of a piece's push through activation and layer (H.3).

/// E S_l = Var b_l + sum_j V_lj E a_j^2, the noise of the pushed Gaussian.
Vector mean_noise(const DenseLayer& layer, const SurrogateLaw& law);

/// K~ of (H.7): covariances of the activations, masks included, those of Hermite rank three and more as if
/// they were alike. Positive semidefinite.
Matrix activation_covariance(const Gaussian& piece, const SurrogateLaw& law);

/// gain_j / s_j; zero where z_j is constant.
Vector gain_per_unit(const Gaussian& piece, const SurrogateLaw& law);

/// What surrogates of any number of pieces and inputs share products for; one column for each, with the bits
/// that it would have alone (R.7).
struct SurrogateImages {
  Matrix means;  ///< M mean + b
  Matrix noise;  ///< E S of mean_noise
};
SurrogateImages surrogate_images(const DenseLayer& layer, const std::vector<const SurrogateLaw*>& laws);

/// `mean` and `noise` are those of surrogate_images.
Gaussian push_surrogate(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law, Vector mean,
                        const Vector& noise);

}  // namespace mixcert
