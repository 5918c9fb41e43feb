// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which pixels a window sees at each of its positions: the one place where stride, padding and dilation meet.
#pragma once

#include <algorithm>
#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// Pixel along one axis that tap `tap` of the window at `position` looks at; outside [0, length) is padding.
inline Index tap_pixel(Index position, Index tap, Index stride, Index padding, Index dilation) {
  return position * stride - padding + tap * dilation;
}

/// Taps [first, last) of the window at `position` that lie in the image. Computed, not searched: a kernel may
/// be much larger than its image.
struct TapRange {
  Index first = 0;
  Index last = 0;
};
inline TapRange taps_inside(Index position, Index kernel, Index length, Index stride, Index padding,
                            Index dilation) {
  const Index start = position * stride - padding;
  const auto first_at_least = [&](Index pixel) {
    return start >= pixel ? 0 : std::min(kernel, (pixel - start + dilation - 1) / dilation);
  };
  return {first_at_least(0), first_at_least(length)};
}

/// Calls visit(position, tap, pixel) for all taps that lie in the image, position by position; indices are
/// row-major over the output, the kernel and the image.
template <class Visit>
void for_each_tap(const Window2d& window, const Size2d& image, Visit visit) {
  const auto& [kernel, stride, padding, dilation] = window;
  const Size2d out = window_positions(window, image);
  for (Index y = 0; y < out.height; ++y) {
    const TapRange rows =
        taps_inside(y, kernel.height, image.height, stride.height, padding.height, dilation.height);
    for (Index x = 0; x < out.width; ++x) {
      const TapRange columns =
          taps_inside(x, kernel.width, image.width, stride.width, padding.width, dilation.width);
      for (Index i = rows.first; i < rows.last; ++i) {
        const Index row = tap_pixel(y, i, stride.height, padding.height, dilation.height) * image.width;
        for (Index j = columns.first; j < columns.last; ++j) {
          visit(y * out.width + x, i * kernel.width + j,
                row + tap_pixel(x, j, stride.width, padding.width, dilation.width));
        }
      }
    }
  }
}

/// No less than the number of calls of for_each_tap.
inline double tap_count(const Window2d& window, const Size2d& image) {
  const Size2d out = window_positions(window, image);
  return static_cast<double>(out.height) * static_cast<double>(out.width) *
         static_cast<double>(std::min(window.kernel.height, image.height)) *
         static_cast<double>(std::min(window.kernel.width, image.width));
}

/// Positions [first, last) along one axis whose pixel under `tap` lies in the image.
inline TapRange positions_inside(Index tap, Index positions, Index length, Index stride, Index padding,
                                 Index dilation) {
  const Index offset = tap * dilation - padding;
  const auto first_at_least = [&](Index pixel) {
    return offset >= pixel ? 0 : std::min(positions, (pixel - offset + stride - 1) / stride);
  };
  return {first_at_least(0), first_at_least(length)};
}

/// The largest number of (position, tap) that look at one pixel: that of rows times that of columns.
inline double most_windows(const Window2d& window, const Size2d& image) {
  const Size2d out = window_positions(window, image);
  const auto along = [](Index positions, Index kernel, Index length, Index stride, Index padding,
                        Index dilation) {
    std::vector<double> counts(static_cast<std::size_t>(length));
    for (Index at = 0; at < positions; ++at) {
      const TapRange taps = taps_inside(at, kernel, length, stride, padding, dilation);
      for (Index tap = taps.first; tap < taps.last; ++tap)
        ++counts[static_cast<std::size_t>(tap_pixel(at, tap, stride, padding, dilation))];
    }
    return *std::max_element(counts.begin(), counts.end());
  };
  const auto& [kernel, stride, padding, dilation] = window;
  return along(out.height, kernel.height, image.height, stride.height, padding.height, dilation.height) *
         along(out.width, kernel.width, image.width, stride.width, padding.width, dilation.width);
}

/// Pixels that each position of the window sees.
inline std::vector<std::vector<Index>> window_pixels(const Window2d& window, const Size2d& image) {
  const Size2d out = window_positions(window, image);
  std::vector<std::vector<Index>> pixels(static_cast<std::size_t>(out.height * out.width));
  for_each_tap(window, image, [&](Index position, Index /*tap*/, Index pixel) {
    pixels[static_cast<std::size_t>(position)].push_back(pixel);
  });
  return pixels;
}

}  // namespace mixcert
