// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The chain of layers.
#include "mixcert/network/network.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "core/kept.h"
#include "mixcert/core/error.h"
#include "network/graph/layer_graph.h"

namespace mixcert {

Network::Network() : kept_(std::make_shared<Kept>()) {}

Network::Network(std::vector<DenseLayer> layers, std::vector<ActivationMap> activations,
                 std::vector<Mask> masks, std::shared_ptr<const FeatureMap> front, bool has_own_noise)
    : Network() {
  Chain chain{std::move(layers), std::move(activations), std::move(masks),
              std::move(front),  has_own_noise,          0};
  chain.check();
  chain_ = std::make_shared<const Chain>(std::move(chain));
}

struct Network::Expansion {
  std::once_flag once;
  std::function<Network()> expand;
  std::shared_ptr<const Chain> chain;
  std::atomic<bool> is_done = false;
};

Network Network::of_graph(std::shared_ptr<const LayerGraph> graph, std::shared_ptr<const FeatureMap> front,
                          std::function<Network()> expand) {
  Network network;
  network.expansion_ = std::make_shared<Expansion>();
  network.expansion_->expand = std::move(expand);
  network.graph_ = std::move(graph);
  network.graph_front_ = std::move(front);
  return network;
}

const Network::Chain& Network::expanded() const {
  std::call_once(expansion_->once, [this] {
    expansion_->chain = expansion_->expand().chain_;
    expansion_->is_done = true;
  });
  return *expansion_->chain;
}

bool Network::is_written_out() const { return chain_ != nullptr || expansion_->is_done; }

Index Network::inputs() const { return front() != nullptr ? front()->inputs() : feature_count(); }

Index Network::feature_count() const { return graph_ ? graph_->inputs() : chain().layers.front().inputs(); }

bool Network::has_own_noise() const { return graph_ ? graph_->has_own_noise() : chain().has_own_noise; }

Index Network::outputs() const { return graph_ ? graph_->outputs() : chain().layers.back().outputs(); }

void Network::Chain::check() {
  require(!layers.empty(), "network: needs at least one dense layer");
  require(layers.size() == activations.size(), "network: needs one activation per dense layer");
  if (masks.empty()) masks.resize(layers.size());
  require(layers.size() == masks.size(), "network: needs one mask per dense layer, or none at all");
  require(masks.front().is_none(), "network: a mask on the input needs an identity layer in front of it");
  require(front == nullptr || front->outputs() == layers.front().inputs(),
          "network: the map in front gives another number of features than the first layer takes");
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const auto neurons = static_cast<std::size_t>(layers[k].inputs());
    require(activations[k].is_uniform() || activations[k].unchanged().size() == neurons,
            "network: the activation of layer '" + layers[k].name() + "' is for another number of neurons");
  }
  find_common_factors();
  for (std::size_t k = 1; k < layers.size(); ++k) {
    require(layers[k].inputs() == layers[k - 1].outputs(),
            "network: layer '" + layers[k].name() + "' expects " + std::to_string(layers[k].inputs()) +
                " inputs, layer '" + layers[k - 1].name() + "' gives " +
                std::to_string(layers[k - 1].outputs()));
  }
}

void Network::Chain::find_common_factors() {
  const DenseLayer* first = nullptr;
  for (const DenseLayer& layer : layers) {
    const Index own = mixcert::common_factor_count(layer.weights());
    if (own == 0) continue;
    if (first == nullptr) {
      first = &layer;  // alone it has nothing in common with any other
      continue;
    }
    common_factor_count = mixcert::common_factor_count(first->weights());
    require(own == common_factor_count, "network: layer '" + layer.name() + "' has a common factor of " +
                                            std::to_string(own) + " columns, layer '" + first->name() +
                                            "' one of " + std::to_string(common_factor_count));
  }
}

bool Network::has_masks() const {
  const std::vector<Mask>& masks = chain().masks;
  return std::any_of(masks.begin(), masks.end(), [](const Mask& mask) { return !mask.is_none(); });
}

Network::Features Network::features(ConstMatrixRef inputs) const {
  const FeatureMap* front = this->front();
  if (front == nullptr) return {inputs, Vector::Zero(inputs.cols())};
  Features features{Matrix(feature_count(), inputs.cols()), Vector(inputs.cols())};
  for (Index i = 0; i < inputs.cols(); ++i) {
    FeatureMap::Features one = front->evaluate(inputs.col(i));
    features.values.col(i) = one.values;
    features.errors(i) = one.error;
  }
  return features;
}

Vector FeatureMap::reach(ConstVectorRef /*input*/, ConstVectorRef /*half_widths*/) const {
  throw InvalidArgument("network: how far the features move with the input is not known");
}

Vector Network::reach(ConstVectorRef input, ConstVectorRef half_widths) const {
  const Vector features = front() != nullptr ? front()->reach(input, half_widths) : Vector(half_widths);
  return features.unaryExpr(
      [slope = activation(0).lipschitz()](double x) { return (slope * UpperBound::exact(x)).upper; });
}

bool Network::is_gaussian() const {
  return std::all_of(chain().layers.begin(), chain().layers.end(),
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
