// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rules of the canonical form (L.5), (O.18), (O.19).
#include "network/layers/canonical_chain.h"

#include <algorithm>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/layer_placement.h"
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

CanonicalChain::CanonicalChain(const std::vector<std::pair<Index, Index>>& values, MemoryBudget& budget)
    : budget_(budget) {
  for (const auto& [name, size] : values) {
    values_[name] = counted_from(total_, size);
    total_ += size;
  }
}

void CanonicalChain::begin(const std::vector<Index>& inputs, const std::vector<Index>& gone) {
  current_.clear();
  if (inputs == gone && inputs.size() == 1) {
    current_ = std::move(values_.at(inputs.front()));
  } else {
    for (const Index name : inputs) {
      const Coordinates& own = values_.at(name);
      current_.insert(current_.end(), own.begin(), own.end());
    }
  }
  for (const Index name : gone) values_.erase(name);
}

bool CanonicalChain::activation_waits() const {
  return !waiting_activation_.is_uniform() || !is_identity(waiting_activation_.common());
}

bool CanonicalChain::nothing_waits() const { return waiting_mask_.is_none() && !activation_waits(); }

DenseLayer* CanonicalChain::open_layer() {
  return !layers_.empty() && nothing_waits() ? &layers_.back() : nullptr;
}

Coordinates CanonicalChain::passing() const {
  std::vector<bool> is_taken(static_cast<std::size_t>(total_), false);
  Coordinates passed;
  for (const auto& [name, coordinates] : values_) {
    for (const Index c : coordinates) {
      if (!is_taken[static_cast<std::size_t>(c)]) passed.push_back(c);
      is_taken[static_cast<std::size_t>(c)] = true;
    }
  }
  return passed;
}

bool CanonicalChain::sees_everything() const {
  return values_.empty() && current_ == counted_from(0, total_);
}

bool CanonicalChain::is_alone(const Coordinates& at) const {
  std::vector<int> looks(static_cast<std::size_t>(total_), 0);
  for (const Index c : current_) ++looks[static_cast<std::size_t>(c)];
  for (const Index c : passing()) ++looks[static_cast<std::size_t>(c)];
  return std::all_of(at.begin(), at.end(), [&](Index c) { return looks[static_cast<std::size_t>(c)] == 1; });
}

void CanonicalChain::renumber(Index made, const Coordinates& passed) {
  Coordinates place(static_cast<std::size_t>(total_), -1);
  for (std::size_t i = 0; i < passed.size(); ++i)
    place[static_cast<std::size_t>(passed[i])] = made + static_cast<Index>(i);
  for (auto& [name, coordinates] : values_) {
    for (Index& c : coordinates) c = place[static_cast<std::size_t>(c)];
  }
  current_ = counted_from(0, made);
  total_ = made + static_cast<Index>(passed.size());
}

void CanonicalChain::identity(const std::string& name) {
  budget_.take_matrix("an identity layer of " + std::to_string(width()) + " coordinates", width(), width());
  affine(identity_layer(name, width(), Vector::Zero(width()), DeterministicBias{}));
}

void CanonicalChain::make_room_for_mask() {
  // The first layer of a network has no mask. All coordinates stay where they are: values that look at one
  // see one and the same factor.
  if (!layers_.empty() || waiting_mask_.is_none()) return;
  const Mask mask = std::exchange(waiting_mask_, Mask());
  budget_.take_matrix("an identity layer of " + std::to_string(total_) + " coordinates", total_, total_);
  append(identity_layer("input", total_, Vector::Zero(total_), DeterministicBias{}));
  waiting_mask_ = mask;
}

void CanonicalChain::affine(DenseLayer layer) {
  make_room_for_mask();
  // Random weights on a coordinate that is seen twice need one for each, a law without room needs all.
  const bool is_doubled = layer.has_random_weights() && has_repeats(current_);
  if (is_doubled || (!has_room(layer) && values_.empty() && !sees_everything())) identity("identity");
  const Index outputs = layer.outputs();
  const Coordinates passed = passing();
  if (!sees_everything()) {
    budget_.take_matrix("layer '" + layer.name() + "' beside values that pass it",
                        2 * (outputs + static_cast<Index>(passed.size())), total_);
    layer = placed(layer, current_, total_, passed);
  }
  append(std::move(layer));
  renumber(outputs, passed);
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

void CanonicalChain::activation(const Activation& activation, const std::vector<bool>& unchanged) {
  if (is_identity(activation)) return;
  const auto acted = [&] {
    Coordinates at;
    for (std::size_t j = 0; j < current_.size(); ++j) {
      if (unchanged.empty() || !unchanged[j]) at.push_back(current_[j]);
    }
    return at;
  };
  const auto is_acted_on = [&](Index c) { return waiting_activation_.at(c) == waiting_activation_.common(); };
  // Two branches share a step where one function acts on coordinates that each has alone.
  const Coordinates at = acted();
  const bool is_free = !activation_waits() || (activation == waiting_activation_.common() &&
                                               std::none_of(at.begin(), at.end(), is_acted_on));
  if (!is_free || !is_alone(at) || !commutes(activation, waiting_mask_)) identity("identity");
  std::vector<bool> flags(static_cast<std::size_t>(total_), true);
  if (activation_waits()) {
    for (Index c = 0; c < total_; ++c) flags[static_cast<std::size_t>(c)] = !is_acted_on(c);
  }
  for (const Index c : acted()) flags[static_cast<std::size_t>(c)] = false;
  waiting_activation_ = ActivationMap(activation, std::move(flags));
}

void CanonicalChain::mask(const std::string& title, const Mask& mask) {
  if (mask.is_none()) return;
  require(values_.empty(), title +
                               ": drops a part of what later layers see, and the canonical form has no "
                               "masks of parts; certify --simulate and sample take it as it is");
  if (has_repeats(current_)) identity("identity");
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
  DenseLayer* open = open_layer();
  if (open != nullptr && is_alone(current_)) {
    Vector longer = Vector::Zero(total_);
    longer(current_) = offset;
    if (auto noisy = with_noise(*open, longer, scattered(law, current_, total_))) {
      *open = *std::move(noisy);
      return;
    }
  }
  budget_.take_matrix("an identity layer of " + std::to_string(width()) + " coordinates", width(), width());
  affine(identity_layer(name, width(), offset, law));
}

void CanonicalChain::scale(const std::string& name, const BatchNormScale& scale) {
  DenseLayer* open = open_layer();
  if (open != nullptr && is_alone(current_)) {
    Vector factor = Vector::Ones(total_);
    Vector shift = Vector::Zero(total_);
    factor(current_) = scale.scale;
    shift(current_) = scale.shift;
    if (can_scale_rows(*open, factor)) {
      *open = scaled_rows(*open, factor, shift);
      return;
    }
  }
  budget_.take_matrix("layer '" + name + "'", width(), width());
  affine({name, scale.scale.asDiagonal(), scale.shift, DeterministicWeights{}, DeterministicBias{}});
}

void CanonicalChain::sum(const std::string& name, Index terms) {
  const Index size = width() / terms;
  const Coordinates passed = passing();
  std::vector<Coordinates> rows(static_cast<std::size_t>(size));
  for (std::size_t j = 0; j < current_.size(); ++j) rows[j % rows.size()].push_back(current_[j]);
  for (Coordinates& row : single_rows(passed)) rows.push_back(std::move(row));
  DenseLayer* open = open_layer();
  auto combined = open != nullptr ? with_combined_rows(*open, rows) : std::nullopt;
  if (combined) {
    *open = *std::move(combined);
  } else {
    make_room_for_mask();
    budget_.take_matrix("layer '" + name + "'", static_cast<Index>(rows.size()), total_);
    append(combining_layer(name, rows, total_));
  }
  renumber(size, passed);
}

Network CanonicalChain::finish(Index name, std::shared_ptr<const FeatureMap> front) {
  begin({name}, {name});
  DenseLayer* open = open_layer();
  if (open == nullptr || !sees_everything()) {
    auto selected = open != nullptr ? with_combined_rows(*open, single_rows(current_)) : std::nullopt;
    if (selected) {
      *open = *std::move(selected);
    } else {
      identity("output");
    }
  }
  return {std::move(layers_), std::move(activations_), std::move(masks_), std::move(front), has_noise_};
}

}  // namespace mixcert
