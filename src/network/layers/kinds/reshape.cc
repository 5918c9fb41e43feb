// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Any shape of as many values: their order is kept, so that nothing is computed.
#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

class ReshapeKind final : public DeterministicLayer<ReshapeSpec> {
 public:
  using DeterministicLayer::DeterministicLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override {
    return {{"to " + to_string(spec().shape)}};
  }
  [[nodiscard]] OwnTensors tensors() const override { return {}; }
  void check_numbers() const override { (void)shape_after_reshape(title(), spec().shape, {}); }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    return *shape_after_reshape(title(), spec().shape, before);
  }
  /// Of which shape they were is not known: a vector of as many values.
  void tell_input(InputShape& input) const override {
    check_numbers();
    input.told = LayerShape{spec().shape.size(), {}, false};
  }
  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const override {
    return nullptr;
  }
  void charge_step(const LayerShape& /*before*/, MemoryBudget& /*budget*/) const override {}
  void expand(ChainBuilder& /*builder*/) const override {}
  [[nodiscard]] bool has_structure() const override { return false; }
  void add_to(GraphBuilder& /*builder*/) const override {}
};

}  // namespace

MaybeShape shape_after_reshape(const std::string& who, const LayerShape& shape, const MaybeShape& before) {
  const auto& [channels, image, is_image] = shape;
  const double size =
      static_cast<double>(channels) * static_cast<double>(image.height) * static_cast<double>(image.width);
  expect(channels >= 1 && image.height >= 1 && image.width >= 1 &&
             size <= static_cast<double>(kMaxLayerSize) && (is_image || image == Size2d{}),
         who + ": shape", "positive sizes of at most 2^31 - 1 values", to_string(shape));
  expect(!before || before->size() == shape.size(), who + ": shape",
         before ? std::to_string(before->size()) + " values (outputs of the layer before)" : "",
         std::to_string(shape.size()) + " (" + to_string(shape) + ")");
  return shape;
}

NewLayerKind kind(const ReshapeSpec& spec) { return std::make_unique<ReshapeKind>(spec); }

}  // namespace mixcert
