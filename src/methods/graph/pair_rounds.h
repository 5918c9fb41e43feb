// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Maxima of windows as rounds of maxima of pairs, docs/theory/graphs.md (O.17): b + relu(a - b) has moments
// in closed form, the maximum of four correlated normals has none.
#pragma once

#include "network/graph/layer_graph.h"

namespace mixcert {

/// The same network with no window of more than two pixels. Activations that do not decrease change places
/// with a maximum behind them, so that they see fewer values.
LayerGraph in_pair_rounds(const LayerGraph& graph);

/// The values in front of a maximum that each of its outputs is the larger of; the same one twice where it
/// passes.
struct ValuePair {
  Index first = 0, second = 0;
};
std::vector<ValuePair> value_pairs(const MaximumNode& node, Index outputs);

/// The largest number of windows that see one pixel.
double most_readers(const MaximumNode& node);

}  // namespace mixcert
