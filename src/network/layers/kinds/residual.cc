// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Residual blocks S(x) + F(x). A plan writes them as the layers of S, those of F and a sum (graph_plan.h):
// what becomes of layers is never asked of a block.
#include <algorithm>
#include <array>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/geometry.h"
#include "network/layers/graph_plan.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

class ResidualKind final : public OneInput<ResidualSpec> {
 public:
  using OneInput::OneInput;

  [[nodiscard]] std::vector<LayerDetail> details() const override {
    const auto counted = [](std::size_t count) {
      return std::to_string(count) + (count == 1 ? " layer" : " layers");
    };
    std::vector<LayerDetail> details = {{counted(spec().layers.size())}};
    if (!spec().skip.layers.empty()) details.push_back({counted(spec().skip.layers.size()) + " in the skip"});
    return details;
  }
  [[nodiscard]] OwnTensors tensors() const override { return {}; }
  [[nodiscard]] InnerLayers inner() const override {
    InnerLayers inner;
    for (const auto* layers : both()) {
      for (const LayerSpec& layer : *layers) inner.layers.push_back(layer_kind(layer));
      inner.lists.push_back(layers);
    }
    return inner;
  }
  [[nodiscard]] std::optional<LayerSpec> named(const std::string& place) const override {
    ResidualSpec block = spec();
    name_layers(block.layers, place + ".");
    name_layers(block.skip.layers, place + ".skip.");
    return LayerSpec(std::move(block));
  }

  void check_numbers() const override {
    require(!spec().layers.empty(), "residual: expected at least one layer, got none");
  }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    const auto behind = [&](const std::vector<LayerSpec>& layers) {
      return layers.empty() ? before : entry_shapes(layers, before).back();
    };
    return *shape_after_residual(behind(spec().skip.layers), behind(spec().layers));
  }
  void tell_input(InputShape& input) const override { ask_input(spec().layers, input); }

  [[nodiscard]] bool is_deterministic() const override {
    const auto is_fixed = [](const LayerSpec& layer) { return mixcert::is_deterministic(layer); };
    return std::all_of(spec().layers.begin(), spec().layers.end(), is_fixed) &&
           std::all_of(spec().skip.layers.begin(), spec().skip.layers.end(), is_fixed);
  }
  [[nodiscard]] LayerSpec without_noise() const override {
    return changed([](const LayerKind& layer) { return layer.without_noise(); });
  }
  void count_choices(std::vector<std::size_t>& sizes) const override {
    for (const auto* layers : both()) {
      for (const LayerSpec& layer : *layers) layer_kind(layer)->count_choices(sizes);
    }
  }
  [[nodiscard]] LayerSpec chosen(ChoiceCursor& cursor) const override {
    return changed([&](const LayerKind& layer) { return layer.chosen(cursor); });
  }

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const override {
    refuse_whole();
  }
  void charge_step(const LayerShape& /*before*/, MemoryBudget& /*budget*/) const override { refuse_whole(); }
  void expand(ChainBuilder& /*builder*/) const override { refuse_whole(); }
  [[nodiscard]] bool has_structure() const override { return true; }
  void add_to(GraphBuilder& /*builder*/) const override { refuse_whole(); }

 private:
  [[noreturn]] static void refuse_whole() {
    throw InvalidArgument("residual: expected the layers of a block one by one, got the block");
  }
  [[nodiscard]] std::array<const std::vector<LayerSpec>*, 2> both() const {
    return {&spec().layers, &spec().skip.layers};
  }
  template <class Change>
  [[nodiscard]] LayerSpec changed(Change change) const {
    ResidualSpec block;
    for (const LayerSpec& layer : spec().layers)
      block.layers.push_back(in_place_of(layer, change(*layer_kind(layer))));
    for (const LayerSpec& layer : spec().skip.layers)
      block.skip.layers.push_back(in_place_of(layer, change(*layer_kind(layer))));
    return block;
  }
};

}  // namespace

MaybeShape shape_after_residual(const MaybeShape& skip, const MaybeShape& inner) {
  if (skip && inner) {
    expect(*skip == *inner, "residual", "layers that keep the shape " + to_string(*skip), to_string(*inner));
  }
  return skip ? skip : inner;
}

NewLayerKind kind(const ResidualSpec& spec) { return std::make_unique<ResidualKind>(spec); }

}  // namespace mixcert
