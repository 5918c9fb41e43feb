// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Canonical networks from layer specifications, docs/theory/layers.md.
#include "mixcert/network/network_builder.h"

#include <algorithm>
#include <utility>

#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "mixcert/network/layer_spec.h"
#include "network/layers/canonical_chain.h"
#include "network/layers/feature_steps.h"
#include "network/layers/mixture_choices.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

/// Adds layer after layer to a chain.
class ChainBuilder {
 public:
  ChainBuilder(const LayerShape& shape, MemoryBudget& budget)
      : shape_(shape), budget_(budget), chain_(shape.size(), budget) {}

  CanonicalChain& chain() { return chain_; }

  void add(const LayerSpec& spec) {
    const LayerShape after = shape_after(spec, shape_);
    std::visit(*this, spec.variant());
    shape_ = after;
  }

  void operator()(const DenseSpec& spec) { chain_.affine(spec.layer); }
  void operator()(const Conv2dSpec& spec) { chain_.affine(expand_convolution(spec, budget_)); }
  void operator()(const AvgPool2dSpec& spec) {
    chain_.affine(expand_average_pool(spec.window, shape_, budget_));
  }
  void operator()(const MaxPool2dSpec& spec) {
    for (MaximumLayer& round : expand_max_pool(spec.window, shape_, budget_)) {
      chain_.affine(std::move(round.layer));
      if (!round.unchanged.empty())
        chain_.activation(Activation(ActivationFunction::Relu), std::move(round.unchanged));
    }
  }
  void operator()(const FlattenSpec&) {}
  void operator()(const BatchNormSpec& spec) { chain_.scale(spec.name, batch_norm_scale(spec, shape_)); }
  void operator()(const ActivationSpec& spec) { chain_.activation(spec.activation); }
  void operator()(const DropoutSpec& spec) { chain_.mask(Mask::bernoulli(spec.rate)); }
  void operator()(const GaussianDropoutSpec& spec) { chain_.mask(Mask::gaussian(spec.rate)); }
  void operator()(const GaussianNoiseSpec& spec) {
    if (spec.deviation == 0.0) return;
    const Index size = shape_.size();
    chain_.noise("noise", Vector::Zero(size),
                 IndependentBias{Vector::Constant(size, spec.deviation * spec.deviation)});
  }
  void operator()(const ResidualSpec& spec) {
    const LayerShape before = shape_;
    chain_.begin_residual();
    for (const LayerSpec& layer : spec.layers) add(layer);
    chain_.end_residual();
    shape_ = before;
  }
  void operator()(const MixtureSpec&) {
    throw InvalidArgument("mixture: expected one alternative to be chosen");
  }

 private:
  LayerShape shape_;
  MemoryBudget& budget_;
  CanonicalChain chain_;
};

/// Layers of the deterministic front: everything before the first random layer. A network without one keeps
/// its last dense layer.
std::size_t front_length(const std::vector<LayerSpec>& layers) {
  const auto random = std::find_if(layers.begin(), layers.end(),
                                   [](const LayerSpec& spec) { return !is_deterministic(spec); });
  auto length = static_cast<std::size_t>(random - layers.begin());
  if (random == layers.end() && std::holds_alternative<DenseSpec>(layers.back().variant())) --length;
  // One activation is the first layer's own and needs no map.
  return length == 1 && std::holds_alternative<ActivationSpec>(layers.front().variant()) ? 0 : length;
}

/// Work and memory of evaluating the front are bounded by what its layers take.
void charge_front(const std::vector<LayerSpec>& front, LayerShape shape, MemoryBudget& budget) {
  for (const LayerSpec& spec : front) {
    const auto pool = [&](const Window2d& window) {
      budget.take(std::string(type_name(spec)), 32.0 * tap_count(window, shape.image));
    };
    const LayerShape after = shape_after(spec, shape);
    if (const auto* average = std::get_if<AvgPool2dSpec>(&spec.variant())) pool(average->window);
    if (const auto* maximum = std::get_if<MaxPool2dSpec>(&spec.variant())) pool(maximum->window);
    if (const auto* residual = std::get_if<ResidualSpec>(&spec.variant())) {
      charge_front(residual->layers, shape, budget);
    }
    if (const auto* convolution = std::get_if<Conv2dSpec>(&spec.variant())) {
      const Index channels = convolution->in / convolution->groups;
      budget.take(title(spec),
                  8.0 * tap_count(convolution->window, convolution->image) * static_cast<double>(channels));
    }
    shape = after;
  }
}

std::shared_ptr<const FeatureMap> make_front(const std::vector<LayerSpec>& front, const LayerShape& input,
                                             const LayerShape& output, MemoryBudget& budget) {
  charge_front(front, input, budget);
  FeatureSteps steps = feature_steps(front, input);
  if (steps.empty()) return nullptr;
  return make_feature_map(std::move(steps), input.size(), output.size());
}

/// One member: no mixture is left in `layers`; `noise` is null for none.
Network build_member(const std::vector<LayerSpec>& layers, const InputNoise::Component* noise,
                     MemoryBudget& budget) {
  const std::vector<LayerShape> shapes = layer_shapes(layers);
  const std::size_t front = noise == nullptr ? front_length(layers) : 0;
  const LayerShape& input = shapes.front();
  const LayerShape& features = shapes[front];
  auto map = make_front({layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(front)}, input,
                        features, budget);
  ChainBuilder builder(features, budget);
  if (noise != nullptr) {
    const Vector offset = noise->offset.size() > 0 ? noise->offset : Vector(Vector::Zero(input.size()));
    require(offset.size() == input.size(), "input noise: expected an offset of " +
                                               std::to_string(input.size()) + " numbers, got " +
                                               std::to_string(offset.size()));
    builder.chain().noise("input noise", offset, noise->law);
  }
  for (std::size_t k = front; k < layers.size(); ++k) builder.add(layers[k]);
  return builder.chain().finish(std::move(map));
}

double layer_bytes(const Network& network) {
  double bytes = 0.0;
  for (Index k = 0; k < network.layer_count(); ++k)
    bytes += 8.0 * static_cast<double>(network.layer(k).parameter_count());
  return bytes;
}

}  // namespace

Ensemble build_ensemble(const std::vector<LayerSpec>& layers, const InputNoise& noise,
                        const BuildLimits& limits) {
  require(!layers.empty(), "network: expected at least one layer, got none");
  const std::vector<LayerShape> shapes = layer_shapes(layers);  // checks every alternative
  MixtureChoices choices(layers);
  const double count =
      choices.count() * static_cast<double>(std::max<std::size_t>(1, noise.components.size()));
  if (count > static_cast<double>(limits.max_members)) {
    throw ResourceError("network: its mixtures make " +
                        std::to_string(static_cast<long long>(std::min(count, 1e15))) +
                        " networks, at most " + std::to_string(limits.max_members) + " are allowed");
  }
  MemoryBudget budget(limits.max_bytes);
  std::vector<Network> members;
  std::vector<double> weights;
  const auto add = [&](const MixtureChoices::Choice& choice, const InputNoise::Component* component) {
    members.push_back(build_member(choice.layers, component, budget));
    weights.push_back(choice.weight * (component != nullptr ? component->weight : 1.0));
    if (members.size() > 1)
      budget.take("an ensemble of " + std::to_string(members.size()) + " networks",
                  layer_bytes(members.back()));
  };
  do {
    const MixtureChoices::Choice choice = choices.current();
    if (noise.is_none()) add(choice, nullptr);
    for (const InputNoise::Component& component : noise.components) add(choice, &component);
  } while (choices.next());
  return {std::move(members), Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()))};
}

Network build_network(const std::vector<LayerSpec>& layers, const InputNoise& noise,
                      const BuildLimits& limits) {
  const Ensemble ensemble = build_ensemble(layers, noise, limits);
  require(ensemble.size() == 1, "network: expected no mixtures, got layers that make an ensemble of " +
                                    std::to_string(ensemble.size()) + " networks");
  return ensemble.member(0);
}

}  // namespace mixcert
