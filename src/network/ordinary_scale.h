// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Exact multiplication of a layer's law by powers of two, and how large its numbers are, as powers of two: a
// layer's weights may be 1e-200 or 1e200, where squares no longer exist (R.9).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mixcert/network/dense_layer.h"
#include "mixcert/network/ensemble.h"

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

// Networks whose hidden layers have outputs of ordinary size. Behind a layer with a positively homogeneous
// activation, f(c z) = c f(z) for c > 0, the size of the layer's outputs is a matter of units: multiplied by
// a power of two, which the next layer's weights undo, the network has the same law, digit for digit (R.9).

/// log2 of a typical size of the outputs of every layer, for features of size one: a root mean square, as if
/// weights were independent. -infinity where outputs are zero.
std::vector<double> typical_sizes(const Network& network);

/// The same law with hidden layers of size one wherever sizes are extreme and the activation allows it; empty
/// where nothing is to be done, as for all networks of sizes between 2^-16 and 2^16. Kept with the network.
std::optional<Network> with_ordinary_sizes(const Network& network);
/// Members that `stays` are left as they are: a graph would be written out to look at its layers.
std::optional<Ensemble> with_ordinary_sizes(const Ensemble& ensemble,
                                            const std::function<bool(const Network&)>& stays = {});

}  // namespace mixcert
