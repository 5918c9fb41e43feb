// Licensed under the Apache License, Version 2.0; see LICENSE.
#pragma once

#include <string>
#include <vector>

namespace mixcert {

/// What one activation of a graph, or one round of a maximum, and the layers behind it up to the next add to
/// a bound, docs/theory/graphs.md (O.15).
struct GraphTerm {
  std::string title;         ///< of its layer; empty: the layers in front of the first
  double activations = 0.0;  ///< part of the square: E e' F e
  double noise = 0.0;        ///< part of the square: weights that meet activations off their means
  double rounding = 0.0;     ///< added to the root
  /// What it adds to the bound.
  [[nodiscard]] double upper() const;
};

/// Of the activations, in their order.
struct GraphTrace {
  std::vector<GraphTerm> terms;
};

}  // namespace mixcert
