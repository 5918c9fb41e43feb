// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Seeded networks for the benchmarks: mean-field, of the scale that training gives.
#pragma once

#include <vector>

#include "mixcert/network/network.h"

namespace mixcert {

/// widths = {784, 128, 128, 10}, say. Weight means N(0, 1.4^2/fan-in), standard deviations
/// about 0.1/sqrt(fan-in).
Network mean_field_network(const std::vector<Index>& widths, ActivationFunction activation);

/// `count` inputs with entries uniform in [0, 1], as images have.
Matrix uniform_inputs(Index features, Index count);

/// Speed of a product of 1024 x 1024 matrices, in GFLOP/s.
double matrix_product_speed();

}  // namespace mixcert
