// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of a network, all layers of it, a block at a time: docs/theory/graphs.md (O.1).
#pragma once

#include <functional>
#include <vector>

#include "network/graph/layer_graph.h"

namespace mixcert {

/// The random numbers of a block, all of them standard normals: for each node a column per draw, empty where
/// a node has none. A mask is a function of its normal: dropped below the quantile of its rate (O.1).
struct BlockRandomness {
  std::vector<Matrix> numbers;

  BlockRandomness(const LayerGraph& graph, Index draws, const NormalSource& source);
};

/// Draws of a block, so that values of a layer stay in cache: a property of the network alone.
Index block_draws(const LayerGraph& graph);

/// Called in order for every node behind the input; `in` are the values of the nodes that it looks at.
using NodeVisitor = std::function<void(Index node, const std::vector<const Matrix*>& in, const Matrix& out)>;

/// Outputs of the block, a column per draw. Safe to call from several threads at once.
Matrix run_block(const LayerGraph& graph, ConstVectorRef input, const BlockRandomness& randomness,
                 const NodeVisitor& visit = {});

/// The path of numbers: all normals are zero, all factors of masks are one.
Matrix run_means(const LayerGraph& graph, ConstVectorRef input, const NodeVisitor& visit = {});

/// One draw of the network at several inputs, a column for each: masks and noise are drawn anew at each.
Matrix run_jointly(const LayerGraph& graph, const Matrix& inputs, const NormalSource& source);

/// Factors of mean one, of a normal each.
Matrix mask_factors(const Mask& mask, const Matrix& normals);
/// Draws of which normals that are off by `normal_error` leave it open whether a mask drops.
Eigen::Array<bool, Eigen::Dynamic, 1> undecided_draws(const LayerGraph& graph,
                                                      const BlockRandomness& randomness, double normal_error);

/// The place of the largest of a window's pixels; the first of several.
Index winner(const std::vector<Index>& window, const double* plane);

}  // namespace mixcert
