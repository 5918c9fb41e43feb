// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How far draws of a network, computed, are from exact ones of exact random numbers, docs/theory/graphs.md
// (O.8), (O.22): errors are carried from node to node.
#pragma once

#include <vector>

#include "network/graph/graph_paths.h"
#include "simulated/graph/graph_slopes.h"

namespace mixcert {

class DrawErrors {
 public:
  /// All of them must outlive this; the input is off by `input_error`.
  DrawErrors(const GraphNorms& norms, const BlockRandomness& randomness, double input_error);

  /// To be called for every node k in order (graph_paths.h).
  void visit(Index k, const std::vector<const Matrix*>& in, const Matrix& out);
  /// Of the outputs, in Euclidean norm; infinite where it is open whether a mask drops.
  [[nodiscard]] DrawRow of_outputs() const;

 private:
  const GraphNorms& norms_;
  const BlockRandomness& randomness_;
  std::vector<DrawRow> errors_;
};

/// Euclidean norms of the numbers that the surrogate multiplies, masks by their standardised factors, none
/// too small.
DrawRow surrogate_numbers(const LayerGraph& graph, const BlockRandomness& randomness);

}  // namespace mixcert
