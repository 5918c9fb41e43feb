// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks whose hidden layers have outputs of ordinary size. Behind a layer with a positively homogeneous
// activation, f(c z) = c f(z) for c > 0, the size of the layer's outputs is a matter of units: multiplied by
// a power of two, which the next layer's weights undo, the network has the same law, digit for digit (R.9).
#pragma once

#include <optional>
#include <vector>

#include "mixcert/network/ensemble.h"

namespace mixcert {

/// log2 of a typical size of the outputs of every layer, for features of size one: a root mean square, as if
/// weights were independent. -infinity where outputs are zero.
std::vector<double> typical_sizes(const Network& network);

/// The same law with hidden layers of size one wherever sizes are extreme and the activation allows it; empty
/// where nothing is to be done, as for all networks of sizes between 2^-16 and 2^16.
std::optional<Network> with_ordinary_sizes(const Network& network);
std::optional<Ensemble> with_ordinary_sizes(const Ensemble& ensemble);

}  // namespace mixcert
