// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The chain of layers.
#include "mixcert/network/network.h"

#include <string>
#include <utility>

#include "mixcert/core/error.h"

namespace mixcert {

Network::Network(std::vector<DenseLayer> layers, std::vector<Activation> activations)
    : layers_(std::move(layers)), activations_(std::move(activations)) {
  require(!layers_.empty(), "network: needs at least one dense layer");
  require(layers_.size() == activations_.size(), "network: needs one activation per dense layer");
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    require(layers_[k].inputs() == layers_[k - 1].outputs(),
            "network: layer '" + layers_[k].name() + "' expects " + std::to_string(layers_[k].inputs()) +
                " inputs, layer '" + layers_[k - 1].name() + "' gives " +
                std::to_string(layers_[k - 1].outputs()));
  }
}

}  // namespace mixcert
