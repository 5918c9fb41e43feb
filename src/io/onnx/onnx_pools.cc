// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Pools, zeros around images, and means over pixels.
#include <algorithm>
#include <utility>

#include "io/files/file_error.h"
#include "io/onnx/onnx_operators.h"
#include "io/onnx/onnx_refusals.h"
#include "io/onnx/onnx_windows.h"

namespace mixcert::io {
namespace {

template <class Spec>
OnnxFlow put_pool(const OnnxStep& step, const OnnxFlow& before) {
  const Spec spec{symmetric_window(step, read_onnx_window(step, before.sizes, {}))};
  const LayerShape after = shape_after(spec, before.layout);
  return step.put(spec, before, image_sizes(after, before.sizes.size() - 1), after);
}

/// How many taps of a position lie on an axis of this size.
Index taps_inside(Index position, Index kernel, Index stride, Index padding, Index size) {
  const Index first = position * stride - padding;
  return std::min(first + kernel, size) - std::max<Index>(first, 0);
}

/// Our pools divide by all taps; ONNX by those inside the image unless it is told otherwise. The quotient of
/// both counts, one for each value.
AffineSpec inside_counts(const OnnxStep& step, const Window2d& window, const Size2d& image,
                         const LayerShape& after) {
  step.charge(after.size());
  AffineSpec spec;
  spec.name = step.network().unique_name(step.entry_name());
  spec.scale.resize(after.size());
  const auto all = static_cast<double>(window.kernel.height * window.kernel.width);
  for (Index i = 0; i < after.size(); ++i) {
    const Index row = i / after.image.width % after.image.height;
    const Index column = i % after.image.width;
    const Index rows =
        taps_inside(row, window.kernel.height, window.stride.height, window.padding.height, image.height);
    const Index columns =
        taps_inside(column, window.kernel.width, window.stride.width, window.padding.width, image.width);
    spec.scale(i) = all / static_cast<double>(rows * columns);
  }
  return spec;
}

/// What a Pad puts before and after each axis: an input since opset 11, an attribute before.
std::vector<AxisPadding> pad_amounts(const OnnxStep& step, std::size_t rank) {
  const std::vector<std::int64_t> pads = step.has(1) ? step.whole_numbers(1) : step.integers("pads", {});
  step.expect(pads.size() == 2 * rank, std::to_string(2 * rank) + " pads", std::to_string(pads.size()));
  std::vector<AxisPadding> result(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    for (const std::int64_t pad : {pads[k], pads[k + rank]})
      step.expect(pad >= 0 && pad <= kMaxLayerSize, "pads of at least 0", std::to_string(pad));
    result[k] = {pads[k], pads[k + rank]};
  }
  const auto is_none = [](const AxisPadding& padding) { return padding.before == 0 && padding.after == 0; };
  step.expect(rank >= 3 && is_none(result[0]) && is_none(result[1]), "pads of pixels alone", "others");
  return result;
}

/// Is what a Pad puts there zero?
bool pads_zeros(const OnnxStep& step) {
  if (step.text("mode", "constant") != "constant" || step.number("value", 0.0) != 0.0) return false;
  if (!step.has(2)) return true;
  const OnnxTensor& value = step.constant(2).tensor;
  return value.values.size() == 1 && value.values.front() == 0.0;
}

}  // namespace

OnnxValue convert_max_pool(const OnnxStep& step) {
  return put_pool<MaxPool2dSpec>(step, step.network().as_image(step.flow(0)));
}

OnnxValue convert_average_pool(const OnnxStep& step) {
  const OnnxFlow before = step.network().as_image(step.flow(0));
  const OnnxFlow after = put_pool<AvgPool2dSpec>(step, before);
  const Window2d window = symmetric_window(step, read_onnx_window(step, before.sizes, {}));
  if (window.padding == Size2d{0, 0} || step.integer("count_include_pad", 0) != 0) return after;
  return step.put_elementwise(inside_counts(step, window, before.layout.image, after.layout), after);
}

/// Every channel convolved with a kernel of one tap, which is one.
OnnxValue convert_pad(const OnnxStep& step) {
  step.expect(pads_zeros(step) && !step.has(3), "zeros around all pixels", "another padding");
  const std::vector<AxisPadding> pads = pad_amounts(step, step.flow(0).sizes.size() + 1);
  const OnnxFlow before = step.network().as_image(step.flow(0));
  const TapShift rows = tap_shift(step, pads.size() == 4 ? pads[2] : AxisPadding{}, 1);
  const TapShift columns = tap_shift(step, pads.back(), 1);
  Conv2dSpec spec;
  spec.in = spec.out = spec.groups = before.layout.channels;
  spec.image = before.layout.image;
  spec.window.padding = {rows.padding, columns.padding};
  spec.window.kernel = {1 + rows.before + rows.after, 1 + columns.before + columns.after};
  const std::optional<Index> taps =
      element_count({spec.out, spec.window.kernel.height, spec.window.kernel.width});
  step.expect(taps.has_value(), "fewer pads", "more");
  step.charge(std::min(*taps, Index{1} << 60U));
  spec.kernel_mean =
      widened(std::vector<double>(static_cast<std::size_t>(spec.out), 1.0), {1, 1}, rows, columns);
  spec.name = step.network().unique_name(step.entry_name());
  const LayerShape after = shape_after(spec, before.layout);
  return step.put(std::move(spec), before, image_sizes(after, before.sizes.size() - 1), after);
}

OnnxValue convert_global_average(const OnnxStep& step) {
  const OnnxFlow before = step.network().as_image(step.flow(0));
  std::vector<Index> sizes(before.sizes.size(), 1);
  sizes.front() = before.layout.channels;
  return step.put(MeanSpec{}, before, std::move(sizes), {before.layout.channels, {}, false});
}

OnnxValue convert_reduce_mean(const OnnxStep& step) {
  // Exporters before version 17 write LayerNorm out, beginning with the mean of a vector.
  const std::vector<Index>& sizes_before = step.flow(0).sizes;
  step.expect(sizes_before.size() > 1, "a mean over pixels of an image",
              shape_text(sizes_before) +
                  " behind the batch (where it is LayerNorm: " + std::string(kNormsInstead) + ")");
  const OnnxFlow before = step.network().as_image(step.flow(0));
  const auto rank = static_cast<Index>(before.sizes.size()) + 1;
  std::vector<Index> axes;
  for (const std::int64_t given : step.axes(1)) axes.push_back(step.axis(given, rank));
  std::sort(axes.begin(), axes.end());
  std::vector<Index> pixels;
  for (Index axis = 2; axis < rank; ++axis) pixels.push_back(axis);
  step.expect(axes == pixels, "a mean over all pixels, axes " + shape_text(pixels), shape_text(axes));
  std::vector<Index> sizes = {before.layout.channels};
  if (step.integer("keepdims", 1) != 0) sizes.resize(before.sizes.size(), 1);
  return step.put(MeanSpec{}, before, std::move(sizes), {before.layout.channels, {}, false});
}

}  // namespace mixcert::io
