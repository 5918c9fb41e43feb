// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The chain of layers.
#include "mixcert/network/network.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mixcert/core/error.h"

namespace mixcert {

Network::Network(std::vector<DenseLayer> layers, std::vector<ActivationMap> activations,
                 std::vector<Mask> masks, std::shared_ptr<const FeatureMap> front, bool has_own_noise)
    : layers_(std::move(layers)),
      activations_(std::move(activations)),
      masks_(std::move(masks)),
      front_(std::move(front)),
      has_own_noise_(has_own_noise) {
  require(!layers_.empty(), "network: needs at least one dense layer");
  require(layers_.size() == activations_.size(), "network: needs one activation per dense layer");
  if (masks_.empty()) masks_.resize(layers_.size());
  require(layers_.size() == masks_.size(), "network: needs one mask per dense layer, or none at all");
  require(masks_.front().is_none(), "network: a mask on the input needs an identity layer in front of it");
  require(front_ == nullptr || front_->outputs() == feature_count(),
          "network: the map in front gives another number of features than the first layer takes");
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const auto neurons = static_cast<std::size_t>(layers_[k].inputs());
    require(activations_[k].is_uniform() || activations_[k].unchanged().size() == neurons,
            "network: the activation of layer '" + layers_[k].name() + "' is for another number of neurons");
  }
  find_common_factors();
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    require(layers_[k].inputs() == layers_[k - 1].outputs(),
            "network: layer '" + layers_[k].name() + "' expects " + std::to_string(layers_[k].inputs()) +
                " inputs, layer '" + layers_[k - 1].name() + "' gives " +
                std::to_string(layers_[k - 1].outputs()));
  }
}

void Network::find_common_factors() {
  const DenseLayer* first = nullptr;
  for (const DenseLayer& layer : layers_) {
    const Index own = mixcert::common_factor_count(layer.weights());
    if (own == 0) continue;
    if (first == nullptr) {
      first = &layer;  // alone it has nothing in common with any other
      continue;
    }
    common_factor_count_ = mixcert::common_factor_count(first->weights());
    require(own == common_factor_count_, "network: layer '" + layer.name() + "' has a common factor of " +
                                             std::to_string(own) + " columns, layer '" + first->name() +
                                             "' one of " + std::to_string(common_factor_count_));
  }
}

bool Network::has_masks() const {
  return std::any_of(masks_.begin(), masks_.end(), [](const Mask& mask) { return !mask.is_none(); });
}

Network::Features Network::features(ConstMatrixRef inputs) const {
  if (front_ == nullptr) return {inputs, Vector::Zero(inputs.cols())};
  Features features{Matrix(feature_count(), inputs.cols()), Vector(inputs.cols())};
  for (Index i = 0; i < inputs.cols(); ++i) {
    FeatureMap::Features one = front_->evaluate(inputs.col(i));
    features.values.col(i) = one.values;
    features.errors(i) = one.error;
  }
  return features;
}

bool Network::is_gaussian() const {
  return std::all_of(layers_.begin(), layers_.end(),
                     [](const DenseLayer& layer) { return layer.is_gaussian(); });
}

std::string Network::correlated_layer() const {
  for (Index k = 1; k <= hidden_count(); ++k) {
    if (layer(k).has_independent_outputs()) continue;
    return "layer '" + layer(k).name() + "' has correlated outputs (weights " +
           std::string(family_name(layer(k).weights())) + ", bias " +
           std::string(family_name(layer(k).bias())) + ")";
  }
  return "";
}

}  // namespace mixcert
