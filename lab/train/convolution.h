// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One convolution of a network that is trained: its geometry, the matrix of patches that turns it into a
// product, and the 2x2 pooling behind its relu. Images are stored channel by channel, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace mixcert::lab {

/// Of 2x2 windows side by side.
enum class Pooling { None, Max, Average };

/// Stride 1, square kernels, zero padding; relu behind it.
struct Convolution {
  std::string name;             ///< "conv0"..
  Index in = 0, out = 0;        ///< channels
  Index height = 0, width = 0;  ///< of the input
  Index kernel = 3, padding = 1;
  Pooling pooling = Pooling::None;
  Index offset = 0;  ///< of weight [out, in, kernel, kernel], then bias [out], in the flat parameters

  [[nodiscard]] Index result_height() const { return height + 2 * padding - kernel + 1; }  ///< before pooling
  [[nodiscard]] Index result_width() const { return width + 2 * padding - kernel + 1; }
  [[nodiscard]] Index pixels() const { return result_height() * result_width(); }
  [[nodiscard]] Index taps() const { return in * kernel * kernel; }
  [[nodiscard]] bool is_pooled() const { return pooling != Pooling::None; }
  [[nodiscard]] Index result_size() const { return out * pixels() / (is_pooled() ? 4 : 1); }
  [[nodiscard]] Index bias_offset() const { return offset + out * taps(); }
  [[nodiscard]] Index parameter_count() const { return out * (taps() + 1); }
};

/// Row (c * kernel + i) * kernel + j holds pixel (y + i - padding, x + j - padding) of channel c for each
/// (y, x), zero outside the image.
void image_to_columns(const Convolution& shape, const float* image, FloatRows& columns);
/// The transpose of image_to_columns.
void columns_to_image(const Convolution& shape, const FloatRows& columns, FloatRows& image);

/// `response` is [out, pixels]. `winners` tells where the largest of each window was; empty for means.
void pool(const Convolution& shape, const FloatRows& response, std::vector<std::int32_t>& winners,
          float* pooled);
/// The transpose of the derivative of pool.
void unpool(const Convolution& shape, const std::vector<std::int32_t>& winners, const float* pooled_gradient,
            FloatRows& gradient);

}  // namespace mixcert::lab
