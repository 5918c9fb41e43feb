// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Shapes of what flows between layers, and windows that move over images.
#pragma once

#include <optional>
#include <string>

#include "mixcert/core/types.h"

namespace mixcert {

struct Size2d {
  Index height = 1;
  Index width = 1;

  friend bool operator==(const Size2d&, const Size2d&) = default;
};

/// Of what flows between layers. A vector has `channels` entries and is no image.
struct LayerShape {
  Index channels = 0;
  Size2d image;
  bool is_image = false;

  [[nodiscard]] Index positions() const { return image.height * image.width; }
  [[nodiscard]] Index size() const { return channels * positions(); }
  friend bool operator==(const LayerShape&, const LayerShape&) = default;
};

/// How a kernel moves over an image, as in torch.
struct Window2d {
  Size2d kernel;
  Size2d stride;
  Size2d padding = {0, 0};
  Size2d dilation;
};

/// "3 x 32 x 32" or "128".
std::string to_string(const LayerShape& shape);

/// Largest number of values between two layers.
inline constexpr Index kMaxLayerSize = (Index{1} << 31) - 1;

/// Nothing where no layer has told the shape yet.
using MaybeShape = std::optional<LayerShape>;

/// Positions of a window on an image; the window must fit.
Size2d window_positions(const Window2d& window, const Size2d& image);

}  // namespace mixcert
