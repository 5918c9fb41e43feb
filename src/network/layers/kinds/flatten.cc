// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An image as a vector: values keep their order, so that only the shape changes.
#include "network/layers/kind_bases.h"

namespace mixcert {
namespace {

class FlattenKind final : public DeterministicLayer<FlattenSpec> {
 public:
  using DeterministicLayer::DeterministicLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {}; }
  [[nodiscard]] OwnTensors tensors() const override { return {}; }
  void check_numbers() const override {}
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    return *shape_after_flatten(before);
  }
  void tell_input(InputShape& /*input*/) const override {}
  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const override {
    return nullptr;
  }
  void charge_step(const LayerShape& /*before*/, MemoryBudget& /*budget*/) const override {}
  void expand(ChainBuilder& /*builder*/) const override {}
  [[nodiscard]] bool has_structure() const override { return false; }
  void add_to(GraphBuilder& /*builder*/) const override {}
};

}  // namespace

MaybeShape shape_after_flatten(const MaybeShape& before) {
  if (!before) return before;
  return LayerShape{before->size(), {}, false};
}

NewLayerKind kind(const FlattenSpec& spec) { return std::make_unique<FlattenKind>(spec); }

}  // namespace mixcert
