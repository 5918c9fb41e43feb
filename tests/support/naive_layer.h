// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A dense layer by its definition alone: the covariance of every pair of entries of [W, b]
// written out, and the push of points as sums over all of them. The slow second formula.
#pragma once

#include "mixcert/network/dense_layer.h"

namespace mixcert::testing {

/// Cov(W_ij, W_kl) from the definitions in weight_law.h; j or l equal to the number of inputs
/// stands for the bias.
double entry_covariance_of(const DenseLayer& layer, Index i, Index j, Index k, Index l);

/// Covariance of the rows of [W, b], index i * (inputs + 1) + j.
Matrix naive_entry_covariance(const DenseLayer& layer);

/// Law of W a + b at one point, neuron-major over `input_count` inputs as in DenseLayer::push.
Gaussian naive_push(const DenseLayer& layer, const Vector& point, Index input_count);

}  // namespace mixcert::testing
