// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a difference at a node of a graph costs at the output, docs/theory/graphs.md (O.12) - (O.14): a
// quadratic form for every node, carried backwards. Matrices are written out where a node is small enough;
// elsewhere a form is a multiple of the identity. Independent of inputs, so made once per network.
#pragma once

#include <functional>
#include <vector>

#include "mixcert/core/parallel.h"
#include "network/graph/layer_graph.h"

namespace mixcert {

/// d' F d, F = `matrix`, positive semidefinite as it stands. `largest` times the identity is a form that
/// bounds the same cost, and the only one where the matrix is empty.
struct NodeForm {
  Matrix matrix;
  double largest = 0.0;
};

/// Rows [first, last) of a node.
struct RowRange {
  Index first = 0, last = 0;
};

class GraphForms {
 public:
  /// Nodes of up to `most_dense` values have matrices. Maxima are those of pairs (pair_rounds.h).
  /// `cancel`, which may be null, is asked between nodes.
  GraphForms(const LayerGraph& graph, Index most_dense, const CancelFlag* cancel = nullptr);

  /// No less than |M| of affine node k.
  [[nodiscard]] double norm(Index k) const { return norms_[static_cast<std::size_t>(k)]; }
  /// No less than the product of all layers' norms that are above one, noise included.
  [[nodiscard]] double most_stretch() const;
  /// Times the identity, it is a form on the values of node k.
  [[nodiscard]] double largest(Index k) const { return forms_[static_cast<std::size_t>(k)].largest; }
  /// E V' F V, F the form behind the random layer of node k: a form on the values in front of it.
  [[nodiscard]] const NodeForm& noise(Index k) const { return noises_[static_cast<std::size_t>(k)]; }

  /// Calls visit(range, block of the form on the values of activation or maximum k) for each of the ranges.
  /// False, and nothing is called, where the form is a multiple of the identity.
  using BlockVisitor = std::function<void(const RowRange& range, const Matrix& block)>;
  bool for_each_block(Index k, const std::vector<RowRange>& ranges, const BlockVisitor& visit) const;

 private:
  /// Carries the form of node k to those in front of it.
  void carry_back(Index k);
  void carry_through(const AffineNode& node, Index k);
  void carry_through(const ActivationNode& node, Index k);
  void carry_through(const MaximumNode& node, Index k);
  void carry_to_terms(Index k);
  void carry_to_parts(Index k);
  /// Adds a form to that of node j; `matrix` may be empty: `largest` times the identity.
  void add(Index j, const Matrix& matrix, double largest);
  [[nodiscard]] bool may_be_dense(Index j) const;
  /// The node that looks at node k; 0 where several do.
  [[nodiscard]] Index only_reader(Index k) const;
  /// Can errors arrive at node k: is an activation, a maximum or a random layer of random values at it or in
  /// front of it? Other nodes differ by rounding alone, and have no matrices.
  [[nodiscard]] bool is_reached(Index k) const { return reached_[static_cast<std::size_t>(k)]; }
  /// Guesses of errors: choices depend on them, bounds do not.
  void make_probes();

  const LayerGraph& graph_;
  Index most_dense_;
  std::vector<double> norms_;
  std::vector<bool> reached_;
  std::vector<NodeForm> forms_, noises_;
  std::vector<double> multiples_;  ///< of the identity, to be added to matrices
  std::vector<Matrix> probes_;
};

}  // namespace mixcert
