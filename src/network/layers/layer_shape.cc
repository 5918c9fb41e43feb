// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How shapes chain, and what is wrong where they do not.
#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "mixcert/network/layer_spec.h"
#include "network/layers/spec_checks.h"

namespace mixcert {
namespace {

std::string text(const Size2d& size) {
  return std::to_string(size.height) + " x " + std::to_string(size.width);
}

/// One line: WHO: FIELD: expected EXPECTED, got GOT.
void expect(bool holds, const std::string& who, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument(who + ": expected " + expected + ", got " + got);
}

void expect_range(const std::string& who, const Size2d& size, Index least) {
  const auto inside = [&](Index value) { return value >= least && value <= kMaxLayerSize; };
  expect(inside(size.height) && inside(size.width), who, "integers of at least " + std::to_string(least),
         text(size));
}

/// `kernel` taps apart by `dilation`.
Index extent(Index kernel, Index dilation) { return (kernel - 1) * dilation + 1; }

/// Also checks that the window fits.
LayerShape moved_over(const std::string& who, const Window2d& window, Index channels, const Size2d& image) {
  expect_range(who + ": kernel", window.kernel, 1);
  expect_range(who + ": stride", window.stride, 1);
  expect_range(who + ": padding", window.padding, 0);
  expect_range(who + ": dilation", window.dilation, 1);
  const Size2d covered{extent(window.kernel.height, window.dilation.height),
                       extent(window.kernel.width, window.dilation.width)};
  const Size2d padded{image.height + 2 * window.padding.height, image.width + 2 * window.padding.width};
  expect(covered.height <= padded.height && covered.width <= padded.width, who + ": kernel",
         "one that fits into the padded input of " + text(padded), text(covered));
  const LayerShape shape{channels, window_positions(window, image), true};
  const double size = static_cast<double>(channels) * static_cast<double>(shape.image.height) *
                      static_cast<double>(shape.image.width);
  expect(size <= static_cast<double>(kMaxLayerSize), who, "at most 2^31 - 1 values behind it",
         std::to_string(channels) + " x " + text(shape.image));
  return shape;
}

Size2d checked_image(const Conv2dSpec& spec, const std::string& who) {
  expect_range(who + ": height and width", spec.image, 1);
  expect(spec.in >= 1 && spec.out >= 1 && spec.in <= kMaxLayerSize && spec.out <= kMaxLayerSize, who,
         "at least one channel in and out", std::to_string(spec.in) + " and " + std::to_string(spec.out));
  const double size = static_cast<double>(spec.in) * static_cast<double>(spec.image.height) *
                      static_cast<double>(spec.image.width);
  expect(size <= static_cast<double>(kMaxLayerSize), who, "at most 2^31 - 1 values in front of it",
         std::to_string(spec.in) + " x " + text(spec.image));
  return spec.image;
}

void expect_groups(const Conv2dSpec& spec, const std::string& who) {
  expect(spec.groups >= 1 && spec.in % spec.groups == 0 && spec.out % spec.groups == 0, who + ": groups",
         "a divisor of " + std::to_string(spec.in) + " and " + std::to_string(spec.out) + " channels",
         std::to_string(spec.groups));
}

}  // namespace

std::string to_string(const LayerShape& shape) {
  const std::string channels = std::to_string(shape.channels);
  return shape.is_image ? channels + " x " + text(shape.image) : channels;
}

Size2d window_positions(const Window2d& window, const Size2d& image) {
  const auto count = [](Index length, Index kernel, Index stride, Index padding, Index dilation) {
    return (length + 2 * padding - extent(kernel, dilation)) / stride + 1;
  };
  return {count(image.height, window.kernel.height, window.stride.height, window.padding.height,
                window.dilation.height),
          count(image.width, window.kernel.width, window.stride.width, window.padding.width,
                window.dilation.width)};
}

MaybeShape shape_after_dense(const std::string& name, Index inputs, Index outputs, const MaybeShape& before) {
  if (before) {
    const std::string who = "dense '" + name + "'";
    expect(!before->is_image, who, "a flatten between an image and a dense layer", "none");
    expect(before->size() == inputs, who + ": in",
           std::to_string(before->size()) + " (outputs of the layer before)", std::to_string(inputs));
  }
  return LayerShape{outputs, {}, false};
}

MaybeShape shape_after_convolution(const Conv2dSpec& spec, const MaybeShape& before) {
  const std::string who = "conv2d '" + spec.name + "'";
  const LayerShape own{spec.in, checked_image(spec, who), true};
  expect_groups(spec, who);
  if (before && before->is_image) {
    expect(before->channels == spec.in, who + ": in",
           std::to_string(before->channels) + " (channels of the layer before)", std::to_string(spec.in));
    expect(before->image == spec.image, who + ": height and width",
           text(before->image) + " (of the layer before)", text(spec.image));
  }
  expect(!before || before->size() == own.size(), who,
         before ? to_string(*before) + " values (outputs of the layer before)" : "", to_string(own));
  return moved_over(who, spec.window, spec.out, spec.image);
}

MaybeShape shape_after_pool(const std::string& type, const Window2d& window, const MaybeShape& before) {
  expect(before && before->is_image, type, "a conv2d before it that tells the size of the image",
         before ? "a vector of " + to_string(*before) : "none");
  const LayerShape after = moved_over(type, window, before->channels, before->image);
  expect(window.dilation == Size2d{}, type + ": dilation", "1", text(window.dilation));
  // As torch; otherwise a window could lie in the padding alone.
  expect(2 * window.padding.height <= window.kernel.height && 2 * window.padding.width <= window.kernel.width,
         type + ": padding", "at most half of the kernel", text(window.padding));
  return after;
}

MaybeShape shape_after_batch_norm(const std::string& name, Index features, const MaybeShape& before) {
  expect(!before || before->channels == features, "batch_norm '" + name + "': features",
         before ? std::to_string(before->channels) + " (channels of the layer before)" : "",
         std::to_string(features));
  return before;
}

MaybeShape shape_after_flatten(const MaybeShape& before) {
  if (!before) return before;
  return LayerShape{before->size(), {}, false};
}

MaybeShape shape_after_residual(const MaybeShape& before, const MaybeShape& inner) {
  if (before && inner) {
    expect(*before == *inner, "residual", "layers that keep the shape " + to_string(*before),
           to_string(*inner));
  }
  return before ? before : inner;
}

LayerShape shape_after(const LayerSpec& spec, const LayerShape& before) {
  check_numbers(spec);
  const MaybeShape after = std::visit(
      Overloaded{
          [&](const DenseSpec& dense) {
            return shape_after_dense(dense.layer.name(), dense.layer.inputs(), dense.layer.outputs(), before);
          },
          [&](const Conv2dSpec& convolution) { return shape_after_convolution(convolution, before); },
          [&](const AvgPool2dSpec& pool) { return shape_after_pool("avg_pool2d", pool.window, before); },
          [&](const MaxPool2dSpec& pool) { return shape_after_pool("max_pool2d", pool.window, before); },
          [&](const FlattenSpec&) { return shape_after_flatten(before); },
          [&](const BatchNormSpec& norm) {
            return shape_after_batch_norm(norm.name, norm.weight.size(), before);
          },
          [&](const ResidualSpec& residual) {
            LayerShape inner = before;
            for (const LayerSpec& layer : residual.layers) inner = shape_after(layer, inner);
            return shape_after_residual(before, inner);
          },
          [&](const MixtureSpec& mixture) {
            MaybeShape shape;
            for (const DenseSpec& choice : mixture.alternatives) shape = shape_after(choice, before);
            return shape;
          },
          [&](const auto&) { return MaybeShape(before); }},
      spec.variant());
  return *after;
}

std::vector<LayerShape> layer_shapes(const std::vector<LayerSpec>& layers) {
  std::vector<LayerShape> shapes = {input_shape(layers)};
  for (const LayerSpec& spec : layers) shapes.push_back(shape_after(spec, shapes.back()));
  return shapes;
}

}  // namespace mixcert
