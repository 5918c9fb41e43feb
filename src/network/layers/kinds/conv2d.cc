// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions: one random number per kernel entry and bias, shared by all positions. Behind random layers
// written out as a matrix (L.2); the deterministic one is in feature_convolution.cc (L.1).
#include <algorithm>
#include <utility>

#include "network/layers/geometry.h"
#include "network/layers/kind_bases.h"
#include "network/layers/layer_expansion.h"
#include "network/layers/tensor_check.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

/// Rows are (output channel, position), columns (input channel, pixel); parameters are kernel entries and
/// behind them one per bias.
class ConvolutionExpansion {
 public:
  explicit ConvolutionExpansion(const Conv2dSpec& spec)
      : spec_(spec),
        out_image_(window_positions(spec.window, spec.image)),
        positions_(out_image_.height * out_image_.width),
        pixels_(spec.image.height * spec.image.width),
        taps_(spec.window.kernel.height * spec.window.kernel.width),
        group_channels_(spec.in / spec.groups) {}

  [[nodiscard]] Index rows() const { return spec_.out * positions_; }
  [[nodiscard]] Index columns() const { return spec_.in * pixels_; }
  [[nodiscard]] double place_bytes() const {
    return static_cast<double>(rows()) * static_cast<double>(group_channels_ * taps_ + 1) *
           static_cast<double>(sizeof(SharedWeights::Place));
  }

  [[nodiscard]] Matrix mean() const {
    Matrix matrix = Matrix::Zero(rows(), columns());
    for_each_entry([&](Index row, Index column, Index parameter) {
      matrix(row, column) = spec_.kernel_mean(parameter);
    });
    return matrix;
  }

  [[nodiscard]] Vector bias() const {
    Vector values = Vector::Zero(rows());
    for (Index i = 0; i < spec_.bias_mean.size() * positions_; ++i)
      values(i) = spec_.bias_mean(i / positions_);
    return values;
  }

  [[nodiscard]] WeightCovariance law() const {
    if (is_deterministic(spec_)) return DeterministicWeights{};
    SharedWeights law;
    const Index kernel = spec_.kernel_variance.size();
    law.variance.resize(kernel + spec_.bias_variance.size());
    law.variance << spec_.kernel_variance, spec_.bias_variance;
    if (kernel > 0) {
      for_each_entry([&](Index row, Index column, Index parameter) {
        law.places.push_back({row, column, parameter});
      });
    }
    for (Index i = 0; i < spec_.bias_variance.size() * positions_; ++i) {
      law.places.push_back({i, columns(), kernel + i / positions_});
    }
    std::stable_sort(law.places.begin(), law.places.end(),
                     [](const auto& a, const auto& b) { return a.row < b.row; });
    law.rows_per_group = positions_;
    return law;
  }

 private:
  template <class Visit>
  void for_each_entry(Visit visit) const {
    const Index group_outputs = spec_.out / spec_.groups;
    for (Index out = 0; out < spec_.out; ++out) {
      const Index first_channel = out / group_outputs * group_channels_;
      for (Index channel = 0; channel < group_channels_; ++channel) {
        const Index kernel = (out * group_channels_ + channel) * taps_;
        const Index plane = (first_channel + channel) * pixels_;
        for_each_tap(spec_.window, spec_.image, [&](Index position, Index tap, Index pixel) {
          visit(out * positions_ + position, plane + pixel, kernel + tap);
        });
      }
    }
  }

  const Conv2dSpec& spec_;
  Size2d out_image_;
  Index positions_;
  Index pixels_;
  Index taps_;
  Index group_channels_;
};

Size2d checked_image(const Conv2dSpec& spec, const std::string& who) {
  expect_range(who + ": height and width", spec.image, 1);
  expect(spec.in >= 1 && spec.out >= 1 && spec.in <= kMaxLayerSize && spec.out <= kMaxLayerSize, who,
         "at least one channel in and out", std::to_string(spec.in) + " and " + std::to_string(spec.out));
  const double size = static_cast<double>(spec.in) * static_cast<double>(spec.image.height) *
                      static_cast<double>(spec.image.width);
  expect(size <= static_cast<double>(kMaxLayerSize), who, "at most 2^31 - 1 values in front of it",
         std::to_string(spec.in) + " x " + to_string(spec.image));
  return spec.image;
}

void expect_groups(const Conv2dSpec& spec, const std::string& who) {
  expect(spec.groups >= 1 && spec.in % spec.groups == 0 && spec.out % spec.groups == 0, who + ": groups",
         "a divisor of " + std::to_string(spec.in) + " and " + std::to_string(spec.out) + " channels",
         std::to_string(spec.groups));
}

class Conv2dKind final : public SingleLayer<Conv2dSpec> {
 public:
  using SingleLayer::SingleLayer;

  [[nodiscard]] std::vector<LayerDetail> details() const override {
    std::vector<LayerDetail> details = window_details(spec().window, {1, 1});
    details.insert(details.begin(), {is_deterministic() ? "deterministic" : "mean-field"});
    if (spec().groups != 1) details.push_back({"groups " + std::to_string(spec().groups)});
    return details;
  }
  [[nodiscard]] OwnTensors tensors() const override {
    const Size2d& taps = spec().window.kernel;
    const std::vector<Index> kernel = {spec().out, spec().in / spec().groups, taps.height, taps.width};
    return {nullptr,
            {{".weight.mean", kernel, &spec().kernel_mean},
             {".weight.variance", kernel, &spec().kernel_variance},
             {".bias.mean", {spec().out}, &spec().bias_mean},
             {".bias.variance", {spec().out}, &spec().bias_variance}}};
  }

  void check_numbers() const override {
    const TensorCheck check(title());
    require(spec().groups >= 1 && spec().in >= 1 && spec().out >= 1,
            title() + ": expected channels and groups");
    // In doubles: sizes of a file may overflow integers, and then fit no tensor.
    const Index group_inputs = spec().in / spec().groups;
    const double entries = static_cast<double>(spec().out) * static_cast<double>(group_inputs) *
                           static_cast<double>(spec().window.kernel.height) *
                           static_cast<double>(spec().window.kernel.width);
    const auto channels = static_cast<double>(spec().out);
    check.values(spec().kernel_mean, entries, "weight.mean");
    if (spec().kernel_variance.size() > 0)
      check.variances(spec().kernel_variance, entries, "weight.variance");
    if (spec().bias_mean.size() > 0) check.values(spec().bias_mean, channels, "bias.mean");
    if (spec().bias_variance.size() > 0) check.variances(spec().bias_variance, channels, "bias.variance");
  }
  [[nodiscard]] LayerShape geometry(const LayerShape& before) const override {
    return *shape_after_convolution(spec(), before);
  }
  void tell_input(InputShape& input) const override {
    shape_after_convolution(spec(), {});  // checks the sizes that are used here
    input.told = LayerShape{spec().in, spec().image, true};
  }

  [[nodiscard]] bool is_deterministic() const override { return mixcert::is_deterministic(spec()); }
  [[nodiscard]] LayerSpec without_noise() const override {
    Conv2dSpec fixed = spec();
    fixed.kernel_variance = Vector();
    fixed.bias_variance = Vector();
    return fixed;
  }

  [[nodiscard]] std::unique_ptr<FeatureStep> step(const LayerShape& /*before*/) const override {
    return convolution_step(spec());
  }
  void charge_step(const LayerShape& /*before*/, MemoryBudget& budget) const override {
    const Index channels = spec().in / spec().groups;
    budget.take(title(), 8.0 * tap_count(spec().window, spec().image) * static_cast<double>(channels));
  }
  void expand(ChainBuilder& builder) const override {
    builder.chain().affine(expand_convolution(spec(), builder.budget()));
  }
  [[nodiscard]] bool has_structure() const override { return true; }
  void add_to(GraphBuilder& builder) const override { builder.affine(title(), convolution_operator(spec())); }
};

}  // namespace

bool is_deterministic(const Conv2dSpec& spec) {
  const auto all_zero = [](const Vector& variance) { return variance.size() == 0 || variance.isZero(0.0); };
  return all_zero(spec.kernel_variance) && all_zero(spec.bias_variance);
}

MaybeShape shape_after_convolution(const Conv2dSpec& spec, const MaybeShape& before) {
  const std::string who = "conv2d '" + spec.name + "'";
  const LayerShape own{spec.in, checked_image(spec, who), true};
  expect_groups(spec, who);
  if (before && before->is_image) {
    expect(before->channels == spec.in, who + ": in",
           std::to_string(before->channels) + " (channels of the layer before)", std::to_string(spec.in));
    expect(before->image == spec.image, who + ": height and width",
           to_string(before->image) + " (of the layer before)", to_string(spec.image));
  }
  expect(!before || before->size() == own.size(), who,
         before ? to_string(*before) + " values (outputs of the layer before)" : "", to_string(own));
  return moved_over(who, spec.window, spec.out, spec.image);
}

DenseLayer expand_convolution(const Conv2dSpec& spec, MemoryBudget& budget) {
  const ConvolutionExpansion expansion(spec);
  const std::string who = "conv2d '" + spec.name + "'";
  budget.take_matrix(who, expansion.rows(), expansion.columns());
  if (!is_deterministic(spec)) budget.take(who, expansion.place_bytes());
  return {spec.name, expansion.mean(), expansion.bias(), expansion.law(), DeterministicBias{}};
}

NewLayerKind kind(const Conv2dSpec& spec) { return std::make_unique<Conv2dKind>(spec); }

}  // namespace mixcert
