// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian of any network, docs/theory/graphs.md (O.4), (O.5): every nonlinear layer is replaced by a
// fixed affine map, chosen from pilot draws, so that the output is an affine function of the network's own
// random numbers, and its covariance takes one pass backwards for each output.
#pragma once

#include <vector>

#include "network/graph/graph_paths.h"

namespace mixcert {

/// What pilot draws say of every node: means and mean squares of values, mean slopes of activations, and how
/// often each pixel of a window was its largest.
class GraphPilot {
 public:
  GraphPilot(const LayerGraph& graph, ConstVectorRef input);

  void add(const BlockRandomness& randomness);

  struct Node {
    Vector mean, square;
    Vector slope;   ///< of an activation
    Matrix shares;  ///< of a maximum: pixels of a window x windows of all channels
  };
  /// Over all draws that were added.
  [[nodiscard]] std::vector<Node> nodes() const;

 private:
  const LayerGraph& graph_;
  Vector input_;
  Index draws_ = 0;
  std::vector<Node> sums_;
};

/// What stands for a mask in the surrogate: the normal that it is made of (D.2), or its standardised factor
/// (O.10), whose sum is not Gaussian.
enum class MaskForm { Normal, Factor };

/// y^ - E y^ = sum_k L_k n_k over the nodes k that draw random numbers, n_k their standard normals: those of
/// a mask stand for its standardised factors.
class LinearSurrogate {
 public:
  LinearSurrogate(const LayerGraph& graph, ConstVectorRef input, const std::vector<GraphPilot::Node>& pilot);

  /// E y^.
  [[nodiscard]] const Vector& mean() const { return mean_; }
  /// Sum of all L_k L_k'.
  [[nodiscard]] Matrix covariance() const;
  /// L_k': a row for each random number of node k, a column for each output; empty where it has none.
  [[nodiscard]] const Matrix& factor(Index node) const { return factors_[static_cast<std::size_t>(node)]; }
  /// y^ - E y^ of each draw, masks that jump as their normals or as they are.
  [[nodiscard]] Matrix centred(const LayerGraph& graph, const BlockRandomness& randomness,
                               MaskForm form) const;

 private:
  Vector mean_;
  std::vector<Matrix> factors_;
};

}  // namespace mixcert
