// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Kernels, strides, paddings and dilations of convolutions and pools as ONNX writes them.
#pragma once

#include "io/onnx/onnx_step.h"

namespace mixcert::io {

/// What lies beyond one axis of an image on either side.
struct AxisPadding {
  Index before = 0;
  Index after = 0;
};

/// A window on an image; its own padding is not set, because both sides may differ.
struct OnnxWindow {
  Window2d window;
  AxisPadding height;
  AxisPadding width;
};

/// Reads kernel_shape (`kernel` where it is not given), strides, dilations, pads and auto_pad of a node on
/// images of the given ONNX sizes: one axis or two. Refuses ceil_mode where it makes a difference.
OnnxWindow read_onnx_window(const OnnxStep& step, const std::vector<Index>& sizes,
                            const std::vector<Index>& kernel);

/// The window with the padding of both sides, which must be equal.
Window2d symmetric_window(const OnnxStep& step, const OnnxWindow& window);

/// Zeros around the taps of one axis, so that a padding that differs at both ends becomes one that does not:
/// with p the larger one, p - before taps of zero come first, or p - after come last.
struct TapShift {
  Index before = 0;
  Index after = 0;
  Index padding = 0;
};

/// Throws FileError where the paddings differ by no multiple of the dilation.
TapShift tap_shift(const OnnxStep& step, const AxisPadding& padding, Index dilation);
/// Kernels [count, height, width] with rows and columns of zeros around each.
Vector widened(const std::vector<double>& kernels, const Size2d& from, const TapShift& rows,
               const TapShift& columns);

/// ONNX sizes without the batch of an image of this shape: [c, h, w], or [c, w] where `axes` is one.
std::vector<Index> image_sizes(const LayerShape& shape, std::size_t axes);

}  // namespace mixcert::io
