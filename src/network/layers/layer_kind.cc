// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers of layers, whichever kind they are: what layer_spec.h declares for all of them.
#include "network/layers/layer_kind.h"

#include "mixcert/core/error.h"

namespace mixcert {

Index OwnTensors::count() const {
  if (dense != nullptr) return dense->parameter_count();
  Index count = 0;
  for (const LayerTensor& tensor : plain) count += tensor.values->size();
  return count;
}

std::string LayerKind::title() const {
  return name() == nullptr ? std::string(type()) : std::string(type()) + " '" + *name() + "'";
}

LayerShape LayerKind::shape_after(const LayerShape& before) const {
  check_numbers();
  return geometry(before);
}

LayerKindPointer layer_kind(const LayerSpec& spec) {
  return std::visit([](const auto& one) { return kind(one); }, spec.variant());
}

void name_layers(std::vector<LayerSpec>& layers, const std::string& prefix) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (auto named = layer_kind(layers[i])->named(prefix + std::to_string(i))) layers[i] = *std::move(named);
  }
}

void ask_input(const std::vector<LayerSpec>& layers, InputShape& input) {
  for (const LayerSpec& spec : layers) {
    if (input.told) return;
    layer_kind(spec)->tell_input(input);
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
  return layer_kind(spec)->shape_after(before);
}

std::vector<LayerShape> layer_shapes(const std::vector<LayerSpec>& layers) {
  std::vector<LayerShape> shapes = {input_shape(layers)};
  for (const LayerSpec& spec : layers) shapes.push_back(shape_after(spec, shapes.back()));
  return shapes;
}

}  // namespace mixcert
