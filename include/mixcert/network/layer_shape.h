// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Shapes of what flows between layers, and every check of geometry: kernels that fit, channels and sizes that
// chain. All functions throw InvalidArgument in one line that names the layer, what was expected and what was
// found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// A vector has `channels` entries and is no image.
struct LayerShape {
  Index channels = 0;
  Size2d image;
  bool is_image = false;

  [[nodiscard]] Index positions() const { return image.height * image.width; }
  [[nodiscard]] Index size() const { return channels * positions(); }
  friend bool operator==(const LayerShape&, const LayerShape&) = default;
};

/// "3 x 32 x 32" or "128".
std::string to_string(const LayerShape& shape);

/// Largest number of values between two layers.
inline constexpr Index kMaxLayerSize = (Index{1} << 31) - 1;

/// Nothing where no layer has told the shape yet.
using MaybeShape = std::optional<LayerShape>;

/// Shapes behind a layer. They look at sizes only, not at the tensors: a file is checked before it is read.
MaybeShape shape_after_dense(const std::string& name, Index inputs, Index outputs, const MaybeShape& before);
MaybeShape shape_after_convolution(const Conv2dSpec& spec, const MaybeShape& before);
MaybeShape shape_after_pool(const std::string& type, const Window2d& window, const MaybeShape& before);
MaybeShape shape_after_batch_norm(const std::string& name, Index features, const MaybeShape& before);
MaybeShape shape_after_flatten(const MaybeShape& before);
/// `inner` is the shape behind the layers of the block.
MaybeShape shape_after_residual(const MaybeShape& before, const MaybeShape& inner);

/// Positions of a window on an image; the window must fit.
Size2d window_positions(const Window2d& window, const Size2d& image);

/// Shape of a network's input, told by its first layer that has a size of its own.
LayerShape input_shape(const std::vector<LayerSpec>& layers);
/// Shape behind one layer, whose tensors and numbers are checked too.
LayerShape shape_after(const LayerSpec& spec, const LayerShape& before);
/// Shapes in front of every layer and behind the last one.
std::vector<LayerShape> layer_shapes(const std::vector<LayerSpec>& layers);

}  // namespace mixcert
