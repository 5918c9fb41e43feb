// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dense layers, of which all the others are made in the end.
#include <string>
#include <utility>

#include "mixcert/network/weight_law.h"
#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

/// e' = |W| e + gamma_{n+1} (|W| |x| + |b|), one product.
class DenseStep : public FeatureStep {
 public:
  explicit DenseStep(const DenseLayer& layer)
      : weights_(layer.weight_mean()),
        magnitudes_(layer.weight_mean().cwiseAbs()),
        bias_(layer.bias_mean()) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const Index n = weights_.cols();
    const double gamma = rounding_gamma(n + 1);
    input.errors += gamma * input.values.cwiseAbs();
    const Vector bound = magnitudes_ * input.errors + gamma * bias_.cwiseAbs();
    return {weights_ * input.values + bias_, raised(bound, n + 4)};
  }

 private:
  Matrix weights_;
  Matrix magnitudes_;
  Vector bias_;
};

class DenseKind final : public SingleLayer<DenseSpec> {
 public:
  using SingleLayer::SingleLayer;

  [[nodiscard]] const std::string* name() const override { return &layer().name(); }
  [[nodiscard]] std::vector<LayerDetail> details() const override {
    std::vector<LayerDetail> details = {{std::string(family_name(layer().weights()))}};
    const EntryLaw law = entry_law(layer().weights());
    if (!law.is_normal()) details.push_back({law.name()});
    return details;
  }
  [[nodiscard]] OwnTensors tensors() const override { return {&layer(), {}}; }
  [[nodiscard]] std::optional<LayerSpec> named(const std::string& place) const override {
    if (!layer().name().empty()) return {};
    return DenseSpec{
        DenseLayer(place, layer().weight_mean(), layer().bias_mean(), layer().weights(), layer().bias())};
  }

  /// DenseLayer has checked its own.
  void check_numbers() const override {}
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    return *shape_after_dense(layer().name(), layer().inputs(), layer().outputs(), before);
  }
  void tell_input(InputShape& input) const override { input.told = LayerShape{layer().inputs(), {}, false}; }

  [[nodiscard]] bool is_deterministic() const override { return layer().is_deterministic(); }
  [[nodiscard]] LayerSpec without_noise() const override {
    return DenseSpec{DenseLayer(layer().name(), layer().weight_mean(), layer().bias_mean(),
                                DeterministicWeights{}, DeterministicBias{})};
  }

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const override {
    return std::make_unique<DenseStep>(layer());
  }
  /// The layer itself holds as much.
  void charge_step(const LayerShape& /*before*/, MemoryBudget& /*budget*/) const override {}
  void expand(ChainBuilder& builder) const override { builder.chain().affine(layer()); }
  [[nodiscard]] bool has_structure() const override { return false; }
  void add_to(GraphBuilder& builder) const override { builder.affine(title(), dense_operator(layer())); }

 private:
  [[nodiscard]] const DenseLayer& layer() const { return spec().layer; }
};

}  // namespace

MaybeShape shape_after_dense(const std::string& name, Index inputs, Index outputs, const MaybeShape& before) {
  if (before) {
    const std::string who = "dense '" + name + "'";
    expect(!before->is_image, who, "a flatten between an image and a dense layer", "none");
    expect(before->size() == inputs, who + ": in",
           std::to_string(before->size()) + " (outputs of the layer before)", std::to_string(inputs));
  }
  return LayerShape{outputs, {}, false};
}

NewLayerKind kind(const DenseSpec& spec) { return std::make_unique<DenseKind>(spec); }

}  // namespace mixcert
