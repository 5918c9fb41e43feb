// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// scale x + shift with fixed numbers: one for all values, one for each channel or one for each value (L.3).
#include <algorithm>
#include <utility>

#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"
#include "network/layers/layer_expansion.h"
#include "network/layers/tensor_check.h"

namespace mixcert {
namespace {

/// y = s x + t, two roundings: e' = |s| e + gamma_2 (|s| |x| + |t|).
class AffineStep : public FeatureStep {
 public:
  explicit AffineStep(BatchNormScale own) : own_(std::move(own)) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const double gamma = rounding_gamma(2);
    const Vector size = own_.scale.cwiseAbs();
    const Vector bound =
        size.cwiseProduct(input.errors + gamma * input.values.cwiseAbs()) + gamma * own_.shift.cwiseAbs();
    return {own_.scale.cwiseProduct(input.values) + own_.shift, raised(bound, 6)};
  }

 private:
  BatchNormScale own_;
};

class AffineKind final : public DeterministicLayer<AffineSpec> {
 public:
  using DeterministicLayer::DeterministicLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override {
    std::vector<LayerDetail> details;
    for (const auto& [word, values] :
         {std::pair("scale", &spec().scale), std::pair("shift", &spec().shift)}) {
      if (values->size() == 1) details.push_back({word, (*values)(0)});
      if (values->size() > 1) details.push_back({std::to_string(values->size()) + " of " + word});
    }
    return details;
  }
  [[nodiscard]] OwnTensors tensors() const override {
    return {
        nullptr,
        {{".scale", {spec().scale.size()}, &spec().scale}, {".shift", {spec().shift.size()}, &spec().shift}}};
  }

  void check_numbers() const override {
    const TensorCheck check(title());
    check.values(spec().scale, static_cast<double>(spec().scale.size()), "scale");
    check.values(spec().shift, static_cast<double>(spec().shift.size()), "shift");
  }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    check_count(spec().scale.size(), "scale", before);
    check_count(spec().shift.size(), "shift", before);
    return before;
  }
  /// A vector of as many features, as for a batch norm.
  void tell_input(InputShape& input) const override {
    const Index count = std::max(spec().scale.size(), spec().shift.size());
    if (count > 1 && !input.fallback) input.fallback = LayerShape{count, {}, false};
  }

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& before) const override {
    return std::make_unique<AffineStep>(on(before));
  }
  void charge_step(const LayerShape& before, MemoryBudget& budget) const override {
    budget.take(title(), 16.0 * static_cast<double>(before.size()));
  }
  void expand(ChainBuilder& builder) const override {
    builder.chain().scale(spec().name.empty() ? "affine" : spec().name, on(builder.shape()));
  }
  [[nodiscard]] bool has_structure() const override { return false; }
  void add_to(GraphBuilder& builder) const override {
    BatchNormScale own = on(builder.shape());
    const Vector sizes = own.shift.cwiseAbs();
    builder.affine(title(), scale_operator(std::move(own.scale), std::move(own.shift), sizes));
  }

 private:
  void check_count(Index count, const std::string& field, const LayerShape& before) const {
    if (count == 0 || count == 1 || count == before.channels || count == before.size()) return;
    std::string expected = "1 value or " + std::to_string(before.channels);
    if (before.is_image) expected += " (channels) or " + std::to_string(before.size());
    expect(false, title() + ": " + field, expected, std::to_string(count));
  }

  /// One number for each value.
  [[nodiscard]] BatchNormScale on(const LayerShape& shape) const {
    const auto spread = [&](const Vector& values, double absent) -> Vector {
      if (values.size() == 0) return Vector::Constant(shape.size(), absent);
      if (values.size() == 1) return Vector::Constant(shape.size(), values(0));
      if (values.size() == shape.size()) return values;
      return values.transpose().replicate(shape.positions(), 1).reshaped();
    };
    return {spread(spec().scale, 1.0), spread(spec().shift, 0.0)};
  }
};

}  // namespace

NewLayerKind kind(const AffineSpec& spec) { return std::make_unique<AffineKind>(spec); }

}  // namespace mixcert
