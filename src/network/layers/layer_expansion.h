// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers written out as matrices: convolution (L.2), pooling and batch norm (L.3), the maximum of pairs
// (L.4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/network/dense_layer.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// What may still be allocated for layers written out as matrices.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t max_bytes)
      : max_bytes_(static_cast<double>(max_bytes)), left_(static_cast<double>(max_bytes)) {}

  /// Throws ResourceError naming the size unless it is still there.
  void take(const std::string& what, double bytes);
  /// The same, and nothing is taken.
  void ask(const std::string& what, double bytes) const;
  void take_matrix(const std::string& what, Index rows, Index columns) {
    take(what, 8.0 * static_cast<double>(rows) * static_cast<double>(columns));
  }

 private:
  double max_bytes_;
  double left_;
};

DenseLayer expand_convolution(const Conv2dSpec& spec, MemoryBudget& budget);
DenseLayer expand_average_pool(const Window2d& window, const LayerShape& shape, MemoryBudget& budget);

/// A layer of the tree of pairwise maxima: relu acts on the outputs that are differences.
struct MaximumLayer {
  DenseLayer layer;
  std::vector<bool> unchanged;  ///< by the relu behind this layer; empty: nothing acts behind it
};
std::vector<MaximumLayer> expand_max_pool(const Window2d& window, const LayerShape& shape,
                                          MemoryBudget& budget);

/// Factor and summand of every coordinate.
struct BatchNormScale {
  Vector scale;
  Vector shift;
};
BatchNormScale batch_norm_scale(const BatchNormSpec& spec, const LayerShape& shape);

}  // namespace mixcert
