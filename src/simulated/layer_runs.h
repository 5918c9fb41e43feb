// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How much runs of layers can stretch, whatever the slopes of their activations are:
// docs/theory/simulation.md (F.5).
#pragma once

#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/network/network.h"
#include "mixture/verified_norm.h"

namespace mixcert {

/// Slopes of one hidden layer's activations lie in [low, high].
struct LayerSlopes {
  double middle = 0.0;   ///< |low + high| / 2
  double half = 0.0;     ///< (high - low) / 2
  double largest = 0.0;  ///< of their absolute values
};

LayerSlopes slopes_of(const ActivationMap& activation, Index neurons);

/// Mean weights M_1 .. M_K of the layers behind the first, and slopes of hidden layers 1 .. K.
class LayerRuns {
 public:
  LayerRuns(const std::vector<Matrix>& weights, std::vector<LayerSlopes> slopes);

  [[nodiscard]] Index depth() const { return static_cast<Index>(slopes_.size()); }
  [[nodiscard]] const LayerSlopes& slopes(Index layer) const {
    return slopes_[static_cast<std::size_t>(layer - 1)];
  }
  /// |M_i D_i M_{i-1} .. M_j D_j| for all diagonal D within the slopes; 1 for i = j - 1.
  [[nodiscard]] double run(Index last, Index first) const;

 private:
  [[nodiscard]] double product(Index last, Index first) const { return products_(last - 1, first - 1); }

  std::vector<LayerSlopes> slopes_;
  Matrix products_;  ///< |M_i .. M_j|
  Matrix runs_;      ///< |M_i D_i .. D_{j+1} M_j|
};

}  // namespace mixcert
