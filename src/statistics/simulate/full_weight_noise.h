// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Noise of a layer whose weights have a dense covariance.
#pragma once

#include <memory>

#include "statistics/simulate/layer_noise.h"

namespace mixcert {

/// `covariance` of the rows of W one after the other, or of [W, b] where `includes_bias`.
std::unique_ptr<LayerNoise> full_weight_noise(const Matrix& covariance, Index outputs, bool includes_bias,
                                              Index group_size);

}  // namespace mixcert
