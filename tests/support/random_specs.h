// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Seeded random layers of every type, with strides, paddings, dilations and groups that fit.
#pragma once

#include <string>

#include "mixcert/network/layer_spec.h"
#include "support/random_laws.h"

namespace mixcert::testing {

/// An integer in [low, high].
Index random_index(Generator& generator, Index low, Index high);

Window2d random_window(Generator& generator, const Size2d& image, bool is_pool);

Vector random_vector(Generator& generator, Index size);
Vector random_positive(Generator& generator, Index size, double scale);

void fill_convolution(Generator& generator, Conv2dSpec& spec, bool stochastic);

Conv2dSpec random_convolution(Generator& generator, const LayerShape& before, bool stochastic,
                              const std::string& name = "conv");

/// 3 x 3 with padding 1: keeps the shape.
Conv2dSpec same_convolution(Generator& generator, const LayerShape& shape, bool stochastic,
                            const std::string& name = "same");

BatchNormSpec random_batch_norm(Generator& generator, Index channels, const std::string& name = "norm");

LayerSpec activation_spec(ActivationFunction function);

}  // namespace mixcert::testing
