// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An immutable stochastic network: dense layers with activations between them,
//     z_1 = W_0 s_0(x) + b_0,   z_{k+1} = W_k s_k(z_k) + b_k,   output z_{K+1}.
// Layers are independent of each other.
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

class Network {
 public:
  /// `activations[k]` acts on the input of `layers[k]`; activations[0] acts on the
  /// network's input (identity in most networks). One activation per layer. Throws
  /// InvalidArgument where sizes do not chain.
  Network(std::vector<DenseLayer> layers, std::vector<Activation> activations);

  /// Number of dense layers, K + 1.
  [[nodiscard]] Index layer_count() const { return static_cast<Index>(layers_.size()); }
  /// Number of hidden layers, K.
  [[nodiscard]] Index hidden_count() const { return layer_count() - 1; }
  [[nodiscard]] const DenseLayer& layer(Index k) const { return layers_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] const Activation& activation(Index k) const {
    return activations_[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] Index inputs() const { return layers_.front().inputs(); }
  [[nodiscard]] Index outputs() const { return layers_.back().outputs(); }

 private:
  std::vector<DenseLayer> layers_;
  std::vector<Activation> activations_;
};

}  // namespace mixcert
