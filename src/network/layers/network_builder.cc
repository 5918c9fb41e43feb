// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Canonical networks from layer specifications, docs/theory/layers.md.
#include "mixcert/network/network_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/network/layer_spec.h"
#include "network/graph/layer_graph.h"
#include "network/layers/chain_builder.h"
#include "network/layers/feature_steps.h"
#include "network/layers/mixture_choices.h"

namespace mixcert {
namespace {

/// Layers of the deterministic front: everything before the first random layer. A network without one keeps
/// its last dense layer; where that is of another kind, an identity stands for it (L.5).
std::size_t front_length(const std::vector<LayerSpec>& layers) {
  const auto random = std::find_if(layers.begin(), layers.end(),
                                   [](const LayerSpec& spec) { return !is_deterministic(spec); });
  auto length = static_cast<std::size_t>(random - layers.begin());
  if (random == layers.end() && std::holds_alternative<DenseSpec>(layers.back().variant())) --length;
  // One activation is the first layer's own and needs no map.
  return length == 1 && std::holds_alternative<ActivationSpec>(layers.front().variant()) ? 0 : length;
}

std::shared_ptr<const FeatureMap> make_front(const std::vector<LayerSpec>& front, const LayerShape& input,
                                             const LayerShape& output, MemoryBudget& budget) {
  charge_steps(front, input, budget);
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

/// Would a layer behind the first random one have to be written out as a matrix?
bool has_structure(const std::vector<LayerSpec>& layers, std::size_t front) {
  return std::any_of(layers.begin() + static_cast<std::ptrdiff_t>(front), layers.end(),
                     [](const LayerSpec& layer) { return layer_kind(layer)->has_structure(); });
}

/// Can a graph add this noise to its inputs?
bool has_operator(const InputNoise::Component& noise, Index inputs) {
  const auto* law = std::get_if<IndependentBias>(&noise.law);
  return law != nullptr && law->law.is_normal() && law->variance.size() == inputs &&
         (noise.offset.size() == 0 || noise.offset.size() == inputs);
}

/// One network as a graph behind its deterministic front, written out where that is asked for; nothing for
/// networks of dense layers alone and for those whose layers have no operators.
std::optional<Network> build_deferred(const std::vector<LayerSpec>& layers,
                                      const InputNoise::Component* noise, const BuildLimits& limits) {
  const std::vector<LayerShape> shapes = layer_shapes(layers);
  const std::size_t length = noise == nullptr ? front_length(layers) : 0;
  if (!has_structure(layers, length) || !graph_refusal(layers).empty()) return std::nullopt;
  if (noise != nullptr && !has_operator(*noise, shapes.front().size())) return std::nullopt;
  // Patches of every layer: what a draw takes, and work that a short list of numbers may ask for.
  MemoryBudget patches(limits.max_bytes);
  charge_steps(layers, shapes.front(), patches);
  const auto middle = layers.begin() + static_cast<std::ptrdiff_t>(length);
  MemoryBudget budget(limits.max_bytes);
  auto front = make_front({layers.begin(), middle}, shapes.front(), shapes[length], budget);
  auto graph = std::make_shared<const LayerGraph>(build_graph({middle, layers.end()}, shapes[length], noise));
  const std::optional<InputNoise::Component> kept =
      noise != nullptr ? std::make_optional(*noise) : std::nullopt;
  return Network::of_graph(std::move(graph), std::move(front), [layers, limits, kept] {
    try {
      MemoryBudget own(limits.max_bytes);
      return build_member(layers, kept ? &*kept : nullptr, own);
    } catch (const ResourceError& error) {
      throw ResourceError(std::string(error.what()) +
                          "; a formal bound needs that, certify --simulate, answer --simulate and sample do "
                          "not");
    }
  });
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
  if (count == 1.0) {
    const InputNoise::Component* only = noise.is_none() ? nullptr : noise.components.data();
    if (auto network = build_deferred(choices.current().layers, only, limits)) return Ensemble(*network);
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
