// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Exact multiplication of a layer's law by powers of two, and how large its numbers are, as powers of two: a
// layer's weights may be 1e-200 or 1e200, where squares no longer exist (R.9).
#pragma once

#include <optional>

#include "mixcert/network/dense_layer.h"

namespace mixcert {

/// log2 of the root mean square row of the weights, noise included; -infinity where all are zero.
double log_row_size(const DenseLayer& layer);
/// The same of the entries of the bias.
double log_bias_size(const DenseLayer& layer);

/// Are the factors of a Kronecker law so far apart (2^32 and 2^-32) that their product alone is ordinary?
bool has_extreme_factors(const DenseLayer& layer);

/// The law of 2^weight_exponent W, 2^bias_exponent b, Kronecker factors brought to one size. No digit
/// changes, numbers apart that leave the range of doubles (R.9). Empty where weights and bias share a
/// parameter and the exponents differ.
std::optional<DenseLayer> scaled_by_powers(const DenseLayer& layer, int weight_exponent, int bias_exponent);

}  // namespace mixcert
