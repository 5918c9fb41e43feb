// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Batch norm with running statistics: one factor and one summand per channel (L.3).
#include <cmath>
#include <utility>

#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"
#include "network/layers/layer_expansion.h"
#include "network/layers/tensor_check.h"

namespace mixcert {
namespace {

/// y = s (x - m) + b, s = w / (v + epsilon)^(1/2) of three roundings: e' = |s| e + gamma_8 (|s| (|x| + |m|) +
/// |b|).
class BatchNormStep : public FeatureStep {
 public:
  BatchNormStep(const BatchNormSpec& spec, const LayerShape& shape)
      : scale_(spec.weight.array() / (spec.running_variance.array() + spec.epsilon).sqrt()),
        mean_(spec.running_mean),
        bias_(spec.bias),
        positions_(shape.positions()) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const double gamma = rounding_gamma(8);
    for (Index i = 0; i < input.values.size(); ++i) {
      const Index channel = i / positions_;
      const double scale = std::abs(scale_(channel));
      const double magnitude = std::abs(input.values(i)) + std::abs(mean_(channel)) + input.errors(i);
      input.errors(i) = scale * input.errors(i) + gamma * (scale * magnitude + std::abs(bias_(channel)));
      input.values(i) = scale_(channel) * (input.values(i) - mean_(channel)) + bias_(channel);
    }
    input.errors = raised(input.errors, 8);
    return input;
  }

 private:
  Vector scale_;
  Vector mean_;
  Vector bias_;
  Index positions_;
};

class BatchNormKind final : public DeterministicLayer<BatchNormSpec> {
 public:
  using DeterministicLayer::DeterministicLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {{"epsilon", spec().epsilon}}; }
  [[nodiscard]] OwnTensors tensors() const override {
    const std::vector<Index> shape = {spec().weight.size()};
    return {nullptr,
            {{".weight", shape, &spec().weight},
             {".bias", shape, &spec().bias},
             {".running_mean", shape, &spec().running_mean},
             {".running_variance", shape, &spec().running_variance}}};
  }

  void check_numbers() const override {
    const TensorCheck check(title());
    const auto features = static_cast<double>(spec().weight.size());
    require(spec().weight.size() > 0, title() + ": expected at least one feature");
    check.values(spec().weight, features, "weight");
    check.values(spec().bias, features, "bias");
    check.values(spec().running_mean, features, "running_mean");
    check.variances(spec().running_variance, features, "running_variance");
    require(
        spec().epsilon >= 0.0 && std::isfinite(spec().epsilon),
        title() + ": epsilon: expected a finite number, at least 0, got " + format_number(spec().epsilon));
    require(spec().running_variance.minCoeff() + spec().epsilon > 0.0,
            title() + ": running_variance: expected a positive number after adding epsilon, got 0");
  }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    return *shape_after_batch_norm(spec().name, spec().weight.size(), before);
  }
  void tell_input(InputShape& input) const override {
    if (!input.fallback) input.fallback = LayerShape{spec().weight.size(), {}, false};
  }

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& before) const override {
    return std::make_unique<BatchNormStep>(spec(), before);
  }
  /// The layer itself holds as much.
  void charge_step(const LayerShape& /*before*/, MemoryBudget& /*budget*/) const override {}
  void expand(ChainBuilder& builder) const override {
    builder.chain().scale(spec().name, batch_norm_scale(spec(), builder.shape()));
  }
  [[nodiscard]] bool has_structure() const override { return false; }
  void add_to(GraphBuilder& builder) const override {
    BatchNormScale own = batch_norm_scale(spec(), builder.shape());
    Vector sizes(own.scale.size());
    for (Index i = 0; i < sizes.size(); ++i) {
      const Index channel = i / builder.shape().positions();
      sizes(i) = std::abs(own.scale(i) * spec().running_mean(channel)) + std::abs(spec().bias(channel));
    }
    builder.affine(title(), scale_operator(std::move(own.scale), std::move(own.shift), sizes));
  }
};

}  // namespace

MaybeShape shape_after_batch_norm(const std::string& name, Index features, const MaybeShape& before) {
  expect(!before || before->channels == features, "batch_norm '" + name + "': features",
         before ? std::to_string(before->channels) + " (channels of the layer before)" : "",
         std::to_string(features));
  return before;
}

BatchNormScale batch_norm_scale(const BatchNormSpec& spec, const LayerShape& shape) {
  const Vector scale = spec.weight.array() / (spec.running_variance.array() + spec.epsilon).sqrt();
  const Vector shift = spec.bias - scale.cwiseProduct(spec.running_mean);
  const auto spread = [&](const Vector& values) -> Vector {
    return values.transpose().replicate(shape.positions(), 1).reshaped();
  };
  return {spread(scale), spread(shift)};
}

NewLayerKind kind(const BatchNormSpec& spec) { return std::make_unique<BatchNormKind>(spec); }

}  // namespace mixcert
