// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One of several dense layers, drawn with its weight: an ensemble with one member for each (L.6).
#include <cmath>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

void check_mixture(const MixtureSpec& spec) {
  require(!spec.alternatives.empty() && spec.weights.size() == spec.alternatives.size(),
          "mixture: expected one weight per layer and at least one, got " +
              std::to_string(spec.weights.size()) + " weights and " +
              std::to_string(spec.alternatives.size()) + " layers");
  double sum = 0.0;
  for (const double weight : spec.weights) {
    require(weight > 0.0 && std::isfinite(weight),
            "mixture: weights: expected positive numbers, got " + format_number(weight));
    sum += weight;
  }
  require(std::abs(sum - 1.0) <= 1e-9, "mixture: weights: expected a sum of 1, got " + format_number(sum));
  const DenseLayer& first = spec.alternatives.front().layer;
  for (const DenseSpec& other : spec.alternatives) {
    require(other.layer.inputs() == first.inputs() && other.layer.outputs() == first.outputs(),
            "mixture: dense '" + other.layer.name() + "': expected " + std::to_string(first.inputs()) +
                " inputs and " + std::to_string(first.outputs()) + " outputs as '" + first.name() +
                "', got " + std::to_string(other.layer.inputs()) + " and " +
                std::to_string(other.layer.outputs()));
  }
}

class MixtureKind final : public OneInput<MixtureSpec> {
 public:
  using OneInput::OneInput;

  [[nodiscard]] std::vector<LayerDetail> details() const override {
    const std::size_t count = spec().alternatives.size();
    return {{std::to_string(count) + (count == 1 ? " alternative" : " alternatives")}};
  }
  [[nodiscard]] OwnTensors tensors() const override { return {}; }
  [[nodiscard]] InnerLayers inner() const override {
    InnerLayers inner{{}, spec().weights};
    for (const DenseSpec& one : spec().alternatives) inner.layers.push_back(kind(one));
    return inner;
  }
  [[nodiscard]] std::optional<LayerSpec> named(const std::string& place) const override {
    MixtureSpec mixture{spec().weights, {}};
    for (const DenseSpec& one : spec().alternatives) {
      const auto changed = kind(one)->named(place + "." + std::to_string(mixture.alternatives.size()));
      mixture.alternatives.push_back(changed ? std::get<DenseSpec>(changed->variant()) : one);
    }
    return LayerSpec(std::move(mixture));
  }

  void check_numbers() const override { check_mixture(spec()); }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    LayerShape shape = before;
    for (const DenseSpec& one : spec().alternatives) shape = kind(one)->shape_after({before});
    return shape;
  }
  void tell_input(InputShape& input) const override {
    if (!spec().alternatives.empty()) kind(spec().alternatives.front())->tell_input(input);
  }

  [[nodiscard]] bool is_deterministic() const override { return false; }
  [[nodiscard]] LayerSpec without_noise() const override {
    throw InvalidArgument("noise_free: expected one network, got a mixture of layers");
  }
  void count_choices(std::vector<std::size_t>& sizes) const override {
    sizes.push_back(spec().alternatives.size());
  }
  [[nodiscard]] LayerSpec chosen(ChoiceCursor& cursor) const override {
    cursor.weight *= spec().weights[*cursor.digit];
    return spec().alternatives[*cursor.digit++];
  }

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const override {
    refuse_unchosen();
  }
  void charge_step(const LayerShape& /*before*/, MemoryBudget& /*budget*/) const override {
    refuse_unchosen();
  }
  void expand(ChainBuilder& /*builder*/) const override { refuse_unchosen(); }
  [[nodiscard]] bool has_structure() const override { return false; }
  void add_to(GraphBuilder& /*builder*/) const override { refuse_unchosen(); }

 private:
  [[noreturn]] static void refuse_unchosen() {
    throw InvalidArgument("mixture: expected one alternative to be chosen");
  }
};

}  // namespace

NewLayerKind kind(const MixtureSpec& spec) { return std::make_unique<MixtureKind>(spec); }

}  // namespace mixcert
