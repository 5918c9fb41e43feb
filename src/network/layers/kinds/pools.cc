// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Average and max pooling, and means of whole images. Deterministic in front of a network (L.1): |max x - max
// y| <= max |x_i - y_i|, and a mean of n values has n roundings. Behind random layers a mean is a matrix
// (L.3) and a maximum a small network (L.4), maximum_expansion.cc.
#include <algorithm>
#include <cmath>
#include <utility>

#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"
#include "network/layers/layer_expansion.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

class PoolStep : public FeatureStep {
 public:
  PoolStep(const Window2d& window, const LayerShape& shape)
      : pixels_(window_pixels(window, shape.image)),
        channels_(shape.channels),
        positions_(shape.positions()),
        taps_(window.kernel.height * window.kernel.width) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const auto windows = static_cast<Index>(pixels_.size());
    BoundedValues output{Vector(channels_ * windows), Vector(channels_ * windows)};
    for (Index channel = 0; channel < channels_; ++channel) {
      const double* values = input.values.data() + channel * positions_;
      const double* errors = input.errors.data() + channel * positions_;
      for (Index at = 0; at < windows; ++at) {
        pool(pixels_[static_cast<std::size_t>(at)], values, errors, output.values(channel * windows + at),
             output.errors(channel * windows + at));
      }
    }
    return output;
  }

 protected:
  virtual void pool(const std::vector<Index>& pixels, const double* values, const double* errors,
                    double& value, double& error) const = 0;
  [[nodiscard]] Index taps() const { return taps_; }

 private:
  std::vector<std::vector<Index>> pixels_;
  Index channels_;
  Index positions_;
  Index taps_;
};

class MaxPoolStep : public PoolStep {
 public:
  using PoolStep::PoolStep;

 private:
  void pool(const std::vector<Index>& pixels, const double* values, const double* errors, double& value,
            double& error) const override {
    value = values[pixels.front()];
    error = errors[pixels.front()];
    for (const Index pixel : pixels) {
      value = std::max(value, values[pixel]);
      error = larger_or_nan(error, errors[pixel]);
    }
  }
};

class AveragePoolStep : public PoolStep {
 public:
  using PoolStep::PoolStep;

 private:
  void pool(const std::vector<Index>& pixels, const double* values, const double* errors, double& value,
            double& error) const override {
    const auto count = static_cast<double>(taps());
    double sum = 0.0;
    double magnitude = 0.0;
    double bound = 0.0;
    for (const Index pixel : pixels) {
      sum += values[pixel];
      magnitude += std::abs(values[pixel]);
      bound += errors[pixel];
    }
    value = sum / count;
    const double gamma = rounding_gamma(taps() + 1);
    error =
        (1.0 + 2.0 * rounding_gamma(taps() + 8)) * (bound + gamma * magnitude) / count + kFeatureUnderflow;
  }
};

template <class Spec>
class PoolKind : public DeterministicLayer<Spec> {
 public:
  using DeterministicLayer<Spec>::DeterministicLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const final {
    return window_details(window(), window().kernel);
  }
  [[nodiscard]] OwnTensors tensors() const final { return {}; }
  /// All of its numbers are geometry.
  void check_numbers() const final {}
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const final { return *behind(before); }
  /// Refuses: a pool cannot be the first that speaks of sizes.
  void tell_input(InputShape& /*input*/) const final { (void)behind({}); }
  [[nodiscard]] bool has_structure() const final { return true; }
  void charge_step(const LayerShape& before, MemoryBudget& budget) const final {
    budget.take(std::string(Spec::kType), 32.0 * tap_count(window(), before.image));
  }

 protected:
  [[nodiscard]] const Window2d& window() const { return this->spec().window; }

 private:
  [[nodiscard]] MaybeShape behind(const MaybeShape& before) const {
    return shape_after_pool(std::string(Spec::kType), window(), before);
  }
};

class AvgPool2dKind final : public PoolKind<AvgPool2dSpec> {
 public:
  using PoolKind::PoolKind;

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& before) const override {
    return std::make_unique<AveragePoolStep>(window(), before);
  }
  void expand(ChainBuilder& builder) const override {
    builder.chain().affine(expand_average_pool(window(), builder.shape(), builder.budget()));
  }
  void add_to(GraphBuilder& builder) const override {
    builder.affine(title(), average_pool_operator(window(), builder.shape()));
  }
};

class MaxPool2dKind final : public PoolKind<MaxPool2dSpec> {
 public:
  using PoolKind::PoolKind;

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& before) const override {
    return std::make_unique<MaxPoolStep>(window(), before);
  }
  void expand(ChainBuilder& builder) const override {
    for (MaximumLayer& round : expand_max_pool(window(), builder.shape(), builder.budget())) {
      builder.chain().affine(std::move(round.layer));
      if (!round.unchanged.empty())
        builder.chain().activation(Activation(ActivationFunction::Relu), round.unchanged);
    }
  }
  void add_to(GraphBuilder& builder) const override { builder.maximum(title(), window()); }
};

/// An average pool whose window is the image, and a vector behind it.
class MeanKind final : public DeterministicLayer<MeanSpec> {
 public:
  using DeterministicLayer::DeterministicLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override { return {}; }
  [[nodiscard]] OwnTensors tensors() const override { return {}; }
  void check_numbers() const override {}
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    return *shape_after_mean(title(), before);
  }
  /// Refuses, as a pool does.
  void tell_input(InputShape& /*input*/) const override { (void)shape_after_mean(title(), MaybeShape()); }
  [[nodiscard]] bool has_structure() const override { return true; }
  void charge_step(const LayerShape& before, MemoryBudget& budget) const override {
    budget.take(title(), 32.0 * static_cast<double>(before.positions()));
  }
  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& before) const override {
    return std::make_unique<AveragePoolStep>(whole(before), before);
  }
  void expand(ChainBuilder& builder) const override {
    builder.chain().affine(expand_average_pool(whole(builder.shape()), builder.shape(), builder.budget()));
  }
  void add_to(GraphBuilder& builder) const override {
    builder.affine(title(), average_pool_operator(whole(builder.shape()), builder.shape()));
  }

 private:
  [[nodiscard]] static Window2d whole(const LayerShape& shape) {
    return {shape.image, shape.image, {0, 0}, {}};
  }
};

}  // namespace

MaybeShape shape_after_mean(const std::string& who, const MaybeShape& before) {
  expect(before && before->is_image, who, "a conv2d before it that tells the size of the image",
         before ? "a vector of " + to_string(*before) : "none");
  return LayerShape{before->channels, {}, false};
}

MaybeShape shape_after_pool(const std::string& type, const Window2d& window, const MaybeShape& before) {
  expect(before && before->is_image, type, "a conv2d before it that tells the size of the image",
         before ? "a vector of " + to_string(*before) : "none");
  const LayerShape after = moved_over(type, window, before->channels, before->image);
  expect(window.dilation == Size2d{}, type + ": dilation", "1", to_string(window.dilation));
  // As torch; otherwise a window could lie in the padding alone.
  expect(2 * window.padding.height <= window.kernel.height && 2 * window.padding.width <= window.kernel.width,
         type + ": padding", "at most half of the kernel", to_string(window.padding));
  return after;
}

DenseLayer expand_average_pool(const Window2d& window, const LayerShape& shape, MemoryBudget& budget) {
  const Size2d out = window_positions(window, shape.image);
  const Index positions = out.height * out.width;
  budget.take_matrix("avg_pool2d", shape.channels * positions, shape.size());
  Matrix matrix = Matrix::Zero(shape.channels * positions, shape.size());
  const double share = 1.0 / static_cast<double>(window.kernel.height * window.kernel.width);
  for (Index channel = 0; channel < shape.channels; ++channel) {
    for_each_tap(window, shape.image, [&](Index position, Index /*tap*/, Index pixel) {
      matrix(channel * positions + position, channel * shape.positions() + pixel) = share;
    });
  }
  Vector bias = Vector::Zero(matrix.rows());
  return {"avg_pool2d", std::move(matrix), std::move(bias), DeterministicWeights{}, DeterministicBias{}};
}

NewLayerKind kind(const AvgPool2dSpec& spec) { return std::make_unique<AvgPool2dKind>(spec); }
NewLayerKind kind(const MeanSpec& spec) { return std::make_unique<MeanKind>(spec); }
NewLayerKind kind(const MaxPool2dSpec& spec) { return std::make_unique<MaxPool2dKind>(spec); }

}  // namespace mixcert
