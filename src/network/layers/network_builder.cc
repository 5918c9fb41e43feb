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
#include "network/layers/graph_plan.h"
#include "network/layers/mixture_choices.h"

namespace mixcert {
namespace {

/// Entries of the deterministic front: everything before the first random one (O.20). A network without one
/// keeps its last dense layer; where that is of another kind, an identity stands for it (L.5).
std::size_t front_length(const std::vector<LayerSpec>& layers) {
  const auto random = std::find_if(layers.begin(), layers.end(),
                                   [](const LayerSpec& spec) { return !is_deterministic(spec); });
  auto length = static_cast<std::size_t>(random - layers.begin());
  if (random == layers.end() && std::holds_alternative<DenseSpec>(layers.back().variant())) --length;
  // One activation is the first layer's own and needs no map.
  return length == 1 && std::holds_alternative<ActivationSpec>(layers.front().variant()) ? 0 : length;
}

/// A list of layers without mixtures and what of it is evaluated in front.
struct PlannedNetwork {
  GraphPlan plan;
  Index cut;  ///< nodes of the front

  /// `layers` must outlive this; `noise` on the input leaves no front.
  PlannedNetwork(const std::vector<LayerSpec>& layers, const InputNoise::Component* noise)
      : plan(layers, input_shape(layers)), cut(plan.nodes_of(noise == nullptr ? front_length(layers) : 0)) {}

  [[nodiscard]] std::shared_ptr<const FeatureMap> front(MemoryBudget& budget) const {
    charge_steps(plan, cut, budget);
    return make_feature_map(plan, cut);
  }
};

/// One member: no mixture is left in `layers`; `noise` is null for none.
Network build_member(const std::vector<LayerSpec>& layers, const InputNoise::Component* noise,
                     MemoryBudget& budget) {
  const PlannedNetwork network(layers, noise);
  auto map = network.front(budget);
  ChainBuilder builder(network.plan, network.cut, budget);
  if (noise != nullptr) {
    const Index inputs = network.plan.input().size();
    const Vector offset = noise->offset.size() > 0 ? noise->offset : Vector(Vector::Zero(inputs));
    require(offset.size() == inputs, "input noise: expected an offset of " + std::to_string(inputs) +
                                         " numbers, got " + std::to_string(offset.size()));
    builder.input_noise(offset, noise->law);
  }
  return builder.build(std::move(map));
}

/// Would a layer behind the front have to be written out as a matrix?
bool has_structure(const PlannedNetwork& network) {
  for (Index k = network.cut; k < network.plan.size(); ++k) {
    if (layer_kind(*network.plan.node(k).layer)->has_structure()) return true;
  }
  return false;
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
  const PlannedNetwork network(layers, noise);
  if (!has_structure(network) || !graph_refusal(layers).empty()) return std::nullopt;
  if (noise != nullptr && !has_operator(*noise, network.plan.input().size())) return std::nullopt;
  // Patches of every layer: what a draw takes, and work that a short list of numbers may ask for.
  MemoryBudget patches(limits.max_bytes);
  charge_steps(network.plan, network.plan.size(), patches);
  MemoryBudget budget(limits.max_bytes);
  auto front = network.front(budget);
  auto graph = std::make_shared<const LayerGraph>(build_graph(network.plan, network.cut, noise));
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
