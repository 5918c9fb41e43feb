// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers that see several entries: their sum, or all of them one after the other. Linear and deterministic;
// in canonical networks a sum is added rows and a concatenation nothing at all (O.18), (O.19).
#include <utility>

#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"
#include "network/layers/layer_expansion.h"

namespace mixcert {
namespace {

/// x_1 + .. + x_n from all of them one after the other: errors add, n - 1 roundings (L.1).
class AddStep : public FeatureStep {
 public:
  explicit AddStep(Index terms) : terms_(terms) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const Index size = input.values.size() / terms_;
    BoundedValues sum{input.values.head(size), input.errors.head(size)};
    for (Index i = 1; i < terms_; ++i) {
      sum.values += input.values.segment(i * size, size);
      sum.errors += input.errors.segment(i * size, size) + 2.0 * kUnitRoundoff * sum.values.cwiseAbs();
    }
    sum.errors = raised(sum.errors, 4 * (terms_ - 1));
    return sum;
  }

 private:
  Index terms_;
};

/// What sums and concatenations have in common.
template <class Spec>
class JoinLayer : public DeterministicLayer<Spec, KindOf<Spec>> {
 public:
  using DeterministicLayer<Spec, KindOf<Spec>>::DeterministicLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const final { return {}; }
  [[nodiscard]] OwnTensors tensors() const final { return {}; }
  void check_numbers() const final {}
  void tell_input(InputShape& /*input*/) const final {}
  [[nodiscard]] bool has_structure() const final { return true; }

 protected:
  [[nodiscard]] static std::vector<MaybeShape> known(const std::vector<LayerShape>& before) {
    return {before.begin(), before.end()};
  }
};

class AddKind final : public JoinLayer<AddSpec> {
 public:
  using JoinLayer::JoinLayer;

  [[nodiscard]] LayerShape shape_behind(const std::vector<LayerShape>& before) const override {
    return *shape_after_add(title(), known(before));
  }
  [[nodiscard]] std::unique_ptr<FeatureStep> make_step(const std::vector<LayerShape>& before) const override {
    return std::make_unique<AddStep>(static_cast<Index>(before.size()));
  }
  /// No more than what it sees.
  void charge(const std::vector<LayerShape>& /*before*/, MemoryBudget& /*budget*/) const override {}
  void expand(ChainBuilder& builder) const override {
    builder.chain().sum(builder.title(), builder.input_count());
  }
  void add_to(GraphBuilder& builder) const override { builder.sum(); }
};

class ConcatKind final : public JoinLayer<ConcatSpec> {
 public:
  using JoinLayer::JoinLayer;

  [[nodiscard]] LayerShape shape_behind(const std::vector<LayerShape>& before) const override {
    return *shape_after_concat(title(), known(before));
  }
  /// Channels are the slowest index: images one after the other are their channels one after the other.
  [[nodiscard]] std::unique_ptr<FeatureStep> make_step(
      const std::vector<LayerShape>& /*before*/) const override {
    return nullptr;
  }
  /// Sizes may double from entry to entry.
  void charge(const std::vector<LayerShape>& before, MemoryBudget& budget) const override {
    double values = 0.0;
    for (const LayerShape& shape : before) values += static_cast<double>(shape.size());
    budget.take(title(), 16.0 * values);
  }
  void expand(ChainBuilder& /*builder*/) const override {}
  void add_to(GraphBuilder& builder) const override { builder.concat(); }
};

}  // namespace

MaybeShape shape_after_add(const std::string& who, const std::vector<MaybeShape>& before) {
  MaybeShape common;
  for (const MaybeShape& shape : before) {
    if (shape && common)
      expect(*shape == *common, who, "inputs of one shape", to_string(*common) + " and " + to_string(*shape));
    if (!common) common = shape;
  }
  return common;
}

MaybeShape shape_after_concat(const std::string& who, const std::vector<MaybeShape>& before) {
  MaybeShape first;
  double channels = 0.0;
  bool is_known = true;
  for (const MaybeShape& shape : before) {
    is_known = is_known && shape.has_value();
    if (!shape) continue;
    if (!first) first = shape;
    channels += static_cast<double>(shape->channels);
    expect(shape->is_image == first->is_image && shape->image == first->image, who,
           "images of one size, or vectors", to_string(*first) + " and " + to_string(*shape));
  }
  if (!is_known || !first) return {};
  expect(channels * static_cast<double>(first->positions()) <= static_cast<double>(kMaxLayerSize), who,
         "at most 2^31 - 1 values behind it", "more");
  return LayerShape{static_cast<Index>(channels), first->image, first->is_image};
}

NewLayerKind kind(const AddSpec& spec) { return std::make_unique<AddKind>(spec); }
NewLayerKind kind(const ConcatSpec& spec) { return std::make_unique<ConcatKind>(spec); }

}  // namespace mixcert
