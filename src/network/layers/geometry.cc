// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How windows move over images, and what is wrong where they do not fit.
#include "network/layers/geometry.h"

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

/// `kernel` taps apart by `dilation`.
Index extent(Index kernel, Index dilation) { return (kernel - 1) * dilation + 1; }

/// "3" or "3 x 5".
std::string short_text(const Size2d& size) {
  return size.height == size.width ? std::to_string(size.height) : to_string(size);
}

}  // namespace

std::string to_string(const Size2d& size) {
  return std::to_string(size.height) + " x " + std::to_string(size.width);
}

std::string to_string(const LayerShape& shape) {
  const std::string channels = std::to_string(shape.channels);
  return shape.is_image ? channels + " x " + to_string(shape.image) : channels;
}

void expect(bool holds, const std::string& who, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument(who + ": expected " + expected + ", got " + got);
}

void expect_range(const std::string& who, const Size2d& size, Index least) {
  const auto inside = [&](Index value) { return value >= least && value <= kMaxLayerSize; };
  expect(inside(size.height) && inside(size.width), who, "integers of at least " + std::to_string(least),
         to_string(size));
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

LayerShape moved_over(const std::string& who, const Window2d& window, Index channels, const Size2d& image) {
  expect_range(who + ": kernel", window.kernel, 1);
  expect_range(who + ": stride", window.stride, 1);
  expect_range(who + ": padding", window.padding, 0);
  expect_range(who + ": dilation", window.dilation, 1);
  const Size2d covered{extent(window.kernel.height, window.dilation.height),
                       extent(window.kernel.width, window.dilation.width)};
  const Size2d padded{image.height + 2 * window.padding.height, image.width + 2 * window.padding.width};
  expect(covered.height <= padded.height && covered.width <= padded.width, who + ": kernel",
         "one that fits into the padded input of " + to_string(padded), to_string(covered));
  const LayerShape shape{channels, window_positions(window, image), true};
  const double size = static_cast<double>(channels) * static_cast<double>(shape.image.height) *
                      static_cast<double>(shape.image.width);
  expect(size <= static_cast<double>(kMaxLayerSize), who, "at most 2^31 - 1 values behind it",
         std::to_string(channels) + " x " + to_string(shape.image));
  return shape;
}

std::vector<LayerDetail> window_details(const Window2d& window, const Size2d& usual_stride) {
  std::vector<LayerDetail> details = {{"kernel " + short_text(window.kernel)}};
  if (window.stride != usual_stride) details.push_back({"stride " + short_text(window.stride)});
  if (window.padding != Size2d{0, 0}) details.push_back({"padding " + short_text(window.padding)});
  if (window.dilation != Size2d{1, 1}) details.push_back({"dilation " + short_text(window.dilation)});
  return details;
}

}  // namespace mixcert
