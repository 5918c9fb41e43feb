// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Passes backwards through a graph whose nodes are replaced by affine maps, docs/theory/graphs.md (O.5): the
// slope of all outputs in all random numbers, from one cotangent for each output.
#pragma once

#include <vector>

#include "network/graph/layer_graph.h"

namespace mixcert {

/// A node as an affine map of the values in front of it and of its random numbers.
struct LinearNode {
  Vector values, squares;  ///< what nodes behind it see, and the squares that stand for theirs
  Vector slope;            ///< of an activation
  Matrix shares;           ///< of a maximum: pixels of a window x windows of all channels
  Vector factors;          ///< of a mask, one for each neuron; empty: all one
  Vector normals;          ///< of an affine layer that is drawn; empty: its mean
};

/// For each node a row for every random number of it and a column for every output; empty where it has none.
std::vector<Matrix> carried_back(const LayerGraph& graph, const std::vector<LinearNode>& nodes);

/// Where the largest of a window's pixels stands in it, for the windows of all channels: 1 there, 0
/// elsewhere, added to `shares`.
void count_winners(const MaximumNode& node, const Matrix& x, Matrix& shares);
/// Zeros of the size that these have.
Matrix no_shares(const MaximumNode& node, Index size);

}  // namespace mixcert
