// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Residual blocks x + F(x): the skip is carried past the layers of F (L.7).
#include <algorithm>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

/// x + F(x): errors add, one rounding.
class ResidualStep : public FeatureStep {
 public:
  explicit ResidualStep(FeatureSteps steps) : steps_(std::move(steps)) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    BoundedValues output = run_steps(steps_, input);
    output.values += input.values;
    output.errors += input.errors + 2.0 * kUnitRoundoff * output.values.cwiseAbs();
    output.errors = raised(output.errors, 4);
    return output;
  }

  [[nodiscard]] double scratch_bytes() const override {
    double largest = 0.0;
    for (const auto& step : steps_) largest = std::max(largest, step->scratch_bytes());
    return largest;
  }

 private:
  FeatureSteps steps_;
};

class ResidualKind final : public KindOf<ResidualSpec> {
 public:
  using KindOf::KindOf;

  [[nodiscard]] std::vector<LayerDetail> details() const override {
    const std::size_t count = spec().layers.size();
    return {{std::to_string(count) + (count == 1 ? " layer" : " layers")}};
  }
  [[nodiscard]] OwnTensors tensors() const override { return {}; }
  [[nodiscard]] InnerLayers inner() const override {
    InnerLayers inner;
    for (const LayerSpec& layer : spec().layers) inner.layers.push_back(layer_kind(layer));
    return inner;
  }
  [[nodiscard]] std::optional<LayerSpec> named(const std::string& place) const override {
    ResidualSpec block = spec();
    name_layers(block.layers, place + ".");
    return LayerSpec(std::move(block));
  }

  void check_numbers() const override {
    require(!spec().layers.empty(), "residual: expected at least one layer, got none");
  }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    LayerShape inner = before;
    for (const LayerSpec& layer : spec().layers) inner = mixcert::shape_after(layer, inner);
    return *shape_after_residual(before, inner);
  }
  void tell_input(InputShape& input) const override { ask_input(spec().layers, input); }

  [[nodiscard]] bool is_deterministic() const override {
    return std::all_of(spec().layers.begin(), spec().layers.end(),
                       [](const LayerSpec& layer) { return mixcert::is_deterministic(layer); });
  }
  [[nodiscard]] LayerSpec without_noise() const override {
    return changed([](const LayerKind& layer) { return layer.without_noise(); });
  }
  void count_choices(std::vector<std::size_t>& sizes) const override {
    for (const LayerSpec& layer : spec().layers) layer_kind(layer)->count_choices(sizes);
  }
  [[nodiscard]] LayerSpec chosen(ChoiceCursor& cursor) const override {
    return changed([&](const LayerKind& layer) { return layer.chosen(cursor); });
  }

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& before) const override {
    return std::make_unique<ResidualStep>(feature_steps(spec().layers, before));
  }
  void charge_step(const LayerShape& before, MemoryBudget& budget) const override {
    charge_steps(spec().layers, before, budget);
  }
  void expand(ChainBuilder& builder) const override {
    builder.chain().begin_residual();
    for (const LayerSpec& layer : spec().layers) builder.add(layer);
    builder.chain().end_residual();
  }

 private:
  template <class Change>
  [[nodiscard]] LayerSpec changed(Change change) const {
    ResidualSpec block;
    block.layers.reserve(spec().layers.size());
    for (const LayerSpec& layer : spec().layers) block.layers.push_back(change(*layer_kind(layer)));
    return block;
  }
};

}  // namespace

MaybeShape shape_after_residual(const MaybeShape& before, const MaybeShape& inner) {
  if (before && inner) {
    expect(*before == *inner, "residual", "layers that keep the shape " + to_string(*before),
           to_string(*inner));
  }
  return before ? before : inner;
}

LayerKindPointer kind(const ResidualSpec& spec) { return std::make_unique<ResidualKind>(spec); }

}  // namespace mixcert
