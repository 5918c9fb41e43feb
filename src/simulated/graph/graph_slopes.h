// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How fast a network's output can move with the normals that it is drawn from, docs/theory/graphs.md (O.6):
// the moments of slopes of (F.6) for layers of every kind, one node after the other, and of the jumps of
// masks (O.21).
#pragma once

#include <vector>

#include "network/graph/layer_graph.h"
#include "simulated/graph/mask_tails.h"
#include "simulated/slope_moments.h"

namespace mixcert {

/// Norms of all layers: what belongs to the network and not to an input.
class GraphNorms {
 public:
  /// `graph` must outlive this.
  explicit GraphNorms(const LayerGraph& graph);

  [[nodiscard]] const LayerGraph& graph() const { return graph_; }
  [[nodiscard]] const AffineOperator::Norms& affine(Index node) const { return at(node).affine; }
  /// The factor by which a node that is not affine can stretch.
  [[nodiscard]] double stretch(Index node) const { return at(node).stretch; }
  /// Are numbers far from those whose squares overflow or vanish?
  [[nodiscard]] bool is_ordinary() const;
  /// The norm of order q >= 2 of how much any node can stretch.
  [[nodiscard]] double stretch(Index node, double q) const;

 private:
  struct Node {
    AffineOperator::Norms affine;
    double stretch = 1.0;
  };
  [[nodiscard]] const Node& at(Index node) const { return nodes_[static_cast<std::size_t>(node)]; }

  const LayerGraph& graph_;
  std::vector<Node> nodes_;
};

/// What the graph sees, off by at most `error` in Euclidean norm.
struct GraphInput {
  Vector values;
  double error = 0.0;
};

/// At one input.
class GraphSlopes {
 public:
  GraphSlopes(const GraphNorms& norms, const GraphInput& input);

  /// No less than the norm of order q >= 2 of the slope of the outputs in all normals, and of their jumps in
  /// all masks, weighed by (O.21).
  [[nodiscard]] double of_outputs(double q) const;

 private:
  struct Node {
    AffineOperator::NoiseAt noise;  ///< at the path's activations
    MaskedValues masked;            ///< of a mask: the path's values in front of it
    double error = 0.0;             ///< by which the path, computed, is off at this node
  };

  const GraphNorms& norms_;
  std::vector<Node> nodes_;
};

}  // namespace mixcert
