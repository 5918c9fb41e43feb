// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Residual blocks S(x) + F(x): a skip without layers is carried past those of F (L.7).
#include <algorithm>
#include <array>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

/// S(x) + F(x): errors add, one rounding.
class ResidualStep : public FeatureStep {
 public:
  ResidualStep(FeatureSteps steps, FeatureSteps skip) : steps_(std::move(steps)), skip_(std::move(skip)) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    BoundedValues output = run_steps(steps_, input);
    const BoundedValues skip = run_steps(skip_, std::move(input));
    output.values += skip.values;
    output.errors += skip.errors + 2.0 * kUnitRoundoff * output.values.cwiseAbs();
    output.errors = raised(output.errors, 4);
    return output;
  }

  [[nodiscard]] double scratch_bytes() const override {
    double largest = 0.0;
    for (const FeatureSteps* steps : {&steps_, &skip_}) {
      for (const auto& step : *steps) largest = std::max(largest, step->scratch_bytes());
    }
    return largest;
  }

 private:
  FeatureSteps steps_, skip_;
};

class ResidualKind final : public KindOf<ResidualSpec> {
 public:
  using KindOf::KindOf;

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
      LayerShape shape = before;
      for (const LayerSpec& layer : layers) shape = mixcert::shape_after(layer, shape);
      return shape;
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

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& before) const override {
    return std::make_unique<ResidualStep>(feature_steps(spec().layers, before),
                                          feature_steps(spec().skip.layers, before));
  }
  void charge_step(const LayerShape& before, MemoryBudget& budget) const override {
    charge_steps(spec().layers, before, budget);
    charge_steps(spec().skip.layers, before, budget);
  }
  void expand(ChainBuilder& builder) const override {
    require(spec().skip.layers.empty(),
            "residual: its skip has layers of its own, which the canonical form of networks does not have");
    builder.chain().begin_residual();
    for (const LayerSpec& layer : spec().layers) builder.add(layer);
    builder.chain().end_residual();
  }
  [[nodiscard]] bool has_structure() const override { return true; }
  void add_to(GraphBuilder& builder) const override {
    const Index start = builder.current();
    const LayerShape before = builder.shape();
    builder.enter_block(!spec().skip.layers.empty());
    for (const LayerSpec& layer : spec().skip.layers) builder.add(layer);
    const Index skip = builder.current();
    builder.go_back(start, before);
    for (const LayerSpec& layer : spec().layers) builder.add(layer);
    builder.sum(title(), skip);
    builder.leave_block();
  }

 private:
  [[nodiscard]] std::array<const std::vector<LayerSpec>*, 2> both() const {
    return {&spec().layers, &spec().skip.layers};
  }
  template <class Change>
  [[nodiscard]] LayerSpec changed(Change change) const {
    ResidualSpec block;
    for (const LayerSpec& layer : spec().layers) block.layers.push_back(change(*layer_kind(layer)));
    for (const LayerSpec& layer : spec().skip.layers) block.skip.layers.push_back(change(*layer_kind(layer)));
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

LayerKindPointer kind(const ResidualSpec& spec) { return std::make_unique<ResidualKind>(spec); }

}  // namespace mixcert
