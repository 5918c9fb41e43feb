// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through the push of a surrogate at one input (H.3), (Z.10).
#pragma once

#include "gradient/moment/piece_gradient.h"

namespace mixcert {

/// From derivatives in the pushed law N(M mean + b, M diag(gain) r diag(gain) M' + diag(E S)) back to piece,
/// surrogate and layer. `covariance_bar` is symmetric.
void add_push_gradient(const DenseLayer& next, const Gaussian& piece, const SurrogateLaw& law,
                       const Vector& mean_bar, const Matrix& covariance_bar, PieceGradient& piece_bar,
                       SurrogateGradient& surrogate, LayerGradient& layer);

}  // namespace mixcert
