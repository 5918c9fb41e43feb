// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers of layers, whichever kind they are: what layer_spec.h declares for all of them.
#include "network/layers/layer_kind.h"

#include <algorithm>

#include "mixcert/core/error.h"
#include "network/layers/graph_plan.h"

namespace mixcert {

Index OwnTensors::count() const {
  if (dense != nullptr) return dense->parameter_count();
  Index count = 0;
  for (const LayerTensor& tensor : plain) count += tensor.values->size();
  return count;
}

std::string LayerKind::title() const {
  const std::string& own = name() != nullptr && !name()->empty() ? *name() : node_;
  return name() == nullptr && own.empty() ? std::string(type()) : std::string(type()) + " '" + own + "'";
}

LayerShape LayerKind::shape_after(const std::vector<LayerShape>& before) const {
  check_numbers();
  return shape_behind(before);
}

LayerKindPointer layer_kind(const LayerSpec& spec) {
  NewLayerKind made = std::visit([](const auto& one) { return kind(one); }, spec.variant());
  made->set_node(spec.node);
  return made;
}

LayerSpec seeing(LayerSpec spec, std::string node, std::vector<std::string> inputs) {
  spec.node = std::move(node);
  spec.inputs = std::move(inputs);
  return spec;
}

std::string node_name(const LayerSpec& spec) {
  if (!spec.node.empty()) return spec.node;
  const LayerKindPointer layer = layer_kind(spec);
  return layer->name() == nullptr ? std::string() : *layer->name();
}

LayerSpec in_place_of(const LayerSpec& spec, LayerSpec made) {
  return seeing(std::move(made), spec.node, spec.inputs);
}

void name_layers(std::vector<LayerSpec>& layers, const std::string& prefix) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string& node = layers[i].node;
    const std::string place = node.empty() ? prefix + std::to_string(i) : node;  // in files they are one
    if (auto named = layer_kind(layers[i])->named(place))
      layers[i] = in_place_of(layers[i], *std::move(named));
  }
}

void ask_input(const std::vector<LayerSpec>& layers, InputShape& input) {
  const std::vector<std::vector<Index>> links = linked_entries(layers);
  std::vector<bool> leaves_size;  // is what an entry gives as large as what the list sees?
  for (std::size_t k = 0; k < layers.size() && !input.told; ++k) {
    const bool sees_size = std::any_of(links[k].begin(), links[k].end(), [&](Index from) {
      return from == kListInput || leaves_size[static_cast<std::size_t>(from)];
    });
    if (sees_size) layer_kind(layers[k])->tell_input(input);
    leaves_size.push_back(sees_size && !std::holds_alternative<ConcatSpec>(layers[k].variant()));
  }
}

std::string_view type_name(const LayerSpec& spec) { return layer_kind(spec)->type(); }

std::string title(const LayerSpec& spec) { return layer_kind(spec)->title(); }

bool is_deterministic(const LayerSpec& spec) { return layer_kind(spec)->is_deterministic(); }

LayerShape input_shape(const std::vector<LayerSpec>& layers) {
  InputShape input;
  ask_input(layers, input);
  const MaybeShape& shape = input.told ? input.told : input.fallback;
  require(shape.has_value(), "network: expected a layer that tells the number of inputs, got none");
  return *shape;
}

LayerShape shape_after(const LayerSpec& spec, const LayerShape& before) {
  return layer_kind(spec)->shape_after({before});
}

std::vector<LayerShape> layer_shapes(const std::vector<LayerSpec>& layers) {
  std::vector<LayerShape> shapes = {input_shape(layers)};
  const std::vector<LayerShape> behind = entry_shapes(layers, shapes.front());
  shapes.insert(shapes.end(), behind.begin(), behind.end());
  return shapes;
}

}  // namespace mixcert
