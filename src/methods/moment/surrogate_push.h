// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian that the moment method puts in place of a piece's push through activation and layer (H.3).
#pragma once

#include <vector>

#include "methods/moment/moment_trace.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// E S_l = Var b_l + sum_j V_lj E a_j^2, the noise of the pushed Gaussian.
Vector mean_noise(const DenseLayer& layer, const SurrogateLaw& law);

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
