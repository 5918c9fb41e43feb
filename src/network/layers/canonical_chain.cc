// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rules of the canonical form (L.5), (L.7).
#include "network/layers/canonical_chain.h"

#include <algorithm>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/layer_transforms.h"

namespace mixcert {
namespace {

// 1 - rate is accurate to 2^10 roundings at least.
constexpr double kLargestMergedRate = 1.0 - 1.0 / 1024;

bool is_identity(const Activation& activation) {
  return activation.function() == ActivationFunction::Identity;
}

/// f(m x) = m f(x) for the factors m of the mask: relu and leaky_relu are homogeneous for m >= 0 only.
bool commutes(const Activation& activation, const Mask& mask) {
  if (mask.is_none() || is_identity(activation)) return true;
  return activation.is_positively_homogeneous() && mask.kind() == Mask::Kind::Bernoulli;
}

DenseLayer renamed(const DenseLayer& layer, std::string name) {
  return {std::move(name), layer.weight_mean(), layer.bias_mean(), layer.weights(), layer.bias()};
}

}  // namespace

bool CanonicalChain::nothing_waits() const {
  return waiting_mask_.is_none() && waiting_activation_.is_uniform() &&
         is_identity(waiting_activation_.common());
}

DenseLayer* CanonicalChain::open_layer() {
  const bool open = !layers_.empty() && nothing_waits() && !duplicate_;
  return open ? &layers_.back() : nullptr;
}

void CanonicalChain::identity(const std::string& name) {
  budget_.take_matrix("an identity layer of " + std::to_string(width_) + " coordinates", width_, width_);
  affine(identity_layer(name, width_, Vector::Zero(width_), DeterministicBias{}));
}

void CanonicalChain::make_room_for_mask() {
  // The first layer of a network has no mask.
  if (!layers_.empty() || waiting_mask_.is_none()) return;
  const Mask mask = std::exchange(waiting_mask_, Mask());
  identity("input");
  waiting_mask_ = mask;
}

void CanonicalChain::affine(DenseLayer layer) {
  make_room_for_mask();
  const Index outputs = layer.outputs();
  if (skip_ > 0) {
    const Index columns = layer.inputs() + (duplicate_ ? 0 : skip_);
    budget_.take_matrix("layer '" + layer.name() + "' in a residual block", 2 * (outputs + skip_), columns);
    layer = with_skip(layer, skip_, duplicate_);
  }
  duplicate_ = false;
  width_ = outputs;
  append(std::move(layer));
}

void CanonicalChain::append(DenseLayer layer) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(layers_.begin(), layers_.end(),
                       [&](const DenseLayer& other) { return other.name() == name; });
  };
  std::string name = layer.name();
  for (int copy = 2; taken(name); ++copy) name = layer.name() + " " + std::to_string(copy);
  layers_.push_back(name == layer.name() ? std::move(layer) : renamed(layer, name));
  activations_.push_back(std::exchange(waiting_activation_, ActivationMap()));
  masks_.push_back(std::exchange(waiting_mask_, Mask()));
}

void CanonicalChain::replace_last(DenseLayer layer) { layers_.back() = std::move(layer); }

void CanonicalChain::activation(const Activation& activation, std::vector<bool> unchanged) {
  if (is_identity(activation)) return;
  const bool waits = !waiting_activation_.is_uniform() || !is_identity(waiting_activation_.common());
  if (duplicate_ || waits || !commutes(activation, waiting_mask_)) identity("identity");
  if (skip_ > 0) {
    unchanged.resize(static_cast<std::size_t>(width_), false);
    unchanged.resize(static_cast<std::size_t>(width_ + skip_), true);
  }
  waiting_activation_ = ActivationMap(activation, std::move(unchanged));
}

void CanonicalChain::mask(const Mask& mask) {
  if (mask.is_none()) return;
  require(skip_ == 0, "residual: expected no dropout inside a block behind a random layer, got one");
  const bool both = waiting_mask_.kind() == Mask::Kind::Bernoulli && mask.kind() == Mask::Kind::Bernoulli;
  // The product of independent factors is kept with the product of the probabilities. 1 - (that product)
  // would lose small rates, and a rate near one loses what is kept: then masks stay two.
  const double rate = waiting_mask_.rate() + waiting_mask_.keep() * mask.rate();
  if (both && rate <= kLargestMergedRate) {
    waiting_mask_ = Mask::bernoulli(rate);
    return;
  }
  if (!waiting_mask_.is_none()) identity("identity");
  waiting_mask_ = mask;
}

void CanonicalChain::noise(const std::string& name, const Vector& offset, const BiasCovariance& law) {
  has_noise_ = true;
  if (const DenseLayer* open = open_layer()) {
    Vector longer = Vector::Zero(open->outputs());
    longer.head(width_) = offset;
    if (auto noisy = with_noise(*open, longer, padded(law, skip_))) return replace_last(*std::move(noisy));
  }
  budget_.take_matrix("an identity layer of " + std::to_string(width_) + " coordinates", width_, width_);
  affine(identity_layer(name, width_, offset, law));
}

void CanonicalChain::scale(const std::string& name, const BatchNormScale& scale) {
  if (const DenseLayer* open = open_layer()) {
    Vector factor = Vector::Ones(open->outputs());
    Vector shift = Vector::Zero(open->outputs());
    factor.head(width_) = scale.scale;
    shift.head(width_) = scale.shift;
    if (can_scale_rows(*open, factor)) return replace_last(scaled_rows(*open, factor, shift));
  }
  budget_.take_matrix("batch_norm '" + name + "'", width_, width_);
  affine({name, scale.scale.asDiagonal(), scale.shift, DeterministicWeights{}, DeterministicBias{}});
}

void CanonicalChain::begin_residual() {
  require(skip_ == 0, "residual: expected no block inside a block behind a random layer, got one");
  // Before the values are doubled: the skip and the layers see one and the same factors.
  make_room_for_mask();
  skip_ = width_;
  duplicate_ = true;
}

void CanonicalChain::end_residual() {
  if (open_layer() == nullptr) identity("residual");
  replace_last(with_skip_added(layers_.back()));
  skip_ = 0;
}

Network CanonicalChain::finish(std::shared_ptr<const FeatureMap> front) {
  if (open_layer() == nullptr) identity("output");
  return {std::move(layers_), std::move(activations_), std::move(masks_), std::move(front), has_noise_};
}

}  // namespace mixcert
