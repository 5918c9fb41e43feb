// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One vector of all parameters: for every layer its weights row by row, then its bias.
#pragma once

#include "io/imports/imported_layers.h"

namespace mixcert::io {

/// Where the parameters of the slots lie. Biases are there for all layers or for none.
struct FlatLayout {
  Index total = 0;
  bool has_bias = true;

  [[nodiscard]] Index tensors(std::size_t slots) const {
    return static_cast<Index>(slots) * (has_bias ? 2 : 1);
  }
};

/// Throws FileError where `size` is neither all weights nor all weights and biases.
FlatLayout find_layout(const ImportSource& source, const std::string& key, Index size,
                       const std::vector<LayerSlot>& slots);

/// `count` values from `begin` on.
Array part_of(const Vector& values, Index begin, std::vector<Index> shape, Index count);
Vector as_vector(const Array& array);

/// Means into layers; deviations where there are any.
std::vector<ImportedLayer> cut(const std::vector<LayerSlot>& slots, const FlatLayout& layout,
                               const Vector& mean, const Vector& deviation);

/// 1 / precision^(1/2); FileError unless precisions are above zero.
Vector deviations_of(const ImportSource& source, const std::string& key, const Vector& precision);

std::vector<ImportedLayer> split_laplace(const ImportSource& source, const std::vector<LayerSlot>& slots,
                                         std::vector<std::string>& assumptions);

}  // namespace mixcert::io
