// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Signals along one axis are images of one row.
#include "io/onnx/onnx_windows.h"

#include <algorithm>

#include "io/files/file_error.h"

namespace mixcert::io {
namespace {

/// One integer per axis of the image; all `fallback` where the attribute is not given.
std::vector<Index> window_list(const OnnxStep& step, const std::string& attribute, std::size_t count,
                               Index fallback, Index least) {
  const std::vector<std::int64_t> list = step.integers(attribute, std::vector<std::int64_t>(count, fallback));
  const std::string wanted = attribute + " of " + std::to_string(count) + " integers in " +
                             std::to_string(least) + ".." + std::to_string(kMaxLayerSize);
  step.expect(list.size() == count, wanted, std::to_string(list.size()));
  for (const std::int64_t value : list)
    step.expect(value >= least && value <= kMaxLayerSize, wanted, std::to_string(value));
  return {list.begin(), list.end()};
}

/// Along one axis.
struct AxisWindow {
  Index size = 1, kernel = 1, stride = 1, dilation = 1;
};

/// The padding that auto_pad SAME_UPPER or SAME_LOWER means: ceil(size / stride) positions, what is odd at
/// one end.
AxisPadding same_padding(const AxisWindow& axis, bool upper) {
  const Index positions = (axis.size + axis.stride - 1) / axis.stride;
  const Index reach = (axis.kernel - 1) * axis.dilation + 1;
  const Index total = std::max<Index>(0, (positions - 1) * axis.stride + reach - axis.size);
  return upper ? AxisPadding{total / 2, total - total / 2} : AxisPadding{total - total / 2, total / 2};
}

AxisPadding axis_padding(const OnnxStep& step, const std::vector<Index>& pads, const AxisWindow& axis,
                         std::size_t place) {
  const std::string mode = step.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") return same_padding(axis, mode == "SAME_UPPER");
  if (mode == "VALID") return {};
  step.expect(mode == "NOTSET", "auto_pad NOTSET, VALID, SAME_UPPER or SAME_LOWER", in_quotes(mode));
  return {pads[place], pads[place + pads.size() / 2]};
}

void refuse_ceil_mode(const OnnxStep& step, const AxisWindow& axis, const AxisPadding& padding) {
  if (step.integer("ceil_mode", 0) == 0) return;
  const Index room = axis.size + padding.before + padding.after - (axis.kernel - 1) * axis.dilation - 1;
  step.expect(room >= 0 && room % axis.stride == 0, "ceil_mode 0, or windows that end at the border",
              "ceil_mode 1");
}

}  // namespace

OnnxWindow read_onnx_window(const OnnxStep& step, const std::vector<Index>& sizes,
                            const std::vector<Index>& kernel) {
  const std::size_t axes = sizes.size() - 1;
  std::vector<Index> kernels = kernel;
  if (step.has("kernel_shape") || kernel.empty()) {
    step.expect(step.has("kernel_shape"), "kernel_shape", "none");
    kernels = window_list(step, "kernel_shape", axes, 1, 1);
  }
  step.expect(kernel.empty() || kernel == kernels, "kernel_shape " + shape_text(kernel), shape_text(kernels));
  const std::vector<Index> strides = window_list(step, "strides", axes, 1, 1);
  const std::vector<Index> dilations = window_list(step, "dilations", axes, 1, 1);
  const std::vector<Index> pads = window_list(step, "pads", 2 * axes, 0, 0);
  OnnxWindow result;
  for (std::size_t k = 0; k < axes; ++k) {
    const bool is_width = k + 1 == axes;
    const auto side = [&](Size2d& size) -> Index& { return is_width ? size.width : size.height; };
    const AxisWindow axis{sizes[k + 1], kernels[k], strides[k], dilations[k]};
    const AxisPadding padding = axis_padding(step, pads, axis, k);
    refuse_ceil_mode(step, axis, padding);
    side(result.window.kernel) = axis.kernel;
    side(result.window.stride) = axis.stride;
    side(result.window.dilation) = axis.dilation;
    (is_width ? result.width : result.height) = padding;
  }
  return result;
}

Window2d symmetric_window(const OnnxStep& step, const OnnxWindow& window) {
  const bool equal = window.height.before == window.height.after && window.width.before == window.width.after;
  step.expect(equal, "the same padding at both ends", "another");
  Window2d result = window.window;
  result.padding = {window.height.before, window.width.before};
  return result;
}

TapShift tap_shift(const OnnxStep& step, const AxisPadding& padding, Index dilation) {
  const Index most = std::max(padding.before, padding.after);
  const Index before = most - padding.before;
  const Index after = most - padding.after;
  step.expect(before % dilation == 0 && after % dilation == 0,
              "paddings that differ by a multiple of the dilation",
              std::to_string(padding.before) + " and " + std::to_string(padding.after));
  return {before / dilation, after / dilation, most};
}

Vector widened(const std::vector<double>& kernels, const Size2d& from, const TapShift& rows,
               const TapShift& columns) {
  if (kernels.empty()) return {};
  const Index count = static_cast<Index>(kernels.size()) / (from.height * from.width);
  const Index height = from.height + rows.before + rows.after;
  const Index width = from.width + columns.before + columns.after;
  Vector result = Vector::Zero(count * height * width);
  for (Index i = 0; i < static_cast<Index>(kernels.size()); ++i) {
    const Index column = i % from.width;
    const Index row = i / from.width % from.height;
    const Index kernel = i / (from.width * from.height);
    result((kernel * height + row + rows.before) * width + column + columns.before) =
        kernels[static_cast<std::size_t>(i)];
  }
  return result;
}

std::vector<Index> image_sizes(const LayerShape& shape, std::size_t axes) {
  if (axes == 1) return {shape.channels, shape.image.width};
  return {shape.channels, shape.image.height, shape.image.width};
}

}  // namespace mixcert::io
