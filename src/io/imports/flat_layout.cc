// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One vector of all parameters, cut into layers.
#include "io/imports/flat_layout.h"

#include <cmath>

#include "io/files/file_error.h"

namespace mixcert::io {

FlatLayout find_layout(const ImportSource& source, const std::string& key, Index size,
                       const std::vector<LayerSlot>& slots) {
  Index weights = 0;
  Index biases = 0;
  for (const LayerSlot& slot : slots) {
    weights += slot.weights();
    biases += slot.outputs();
  }
  if (size != weights && size != weights + biases) {
    source.fail(in_quotes(key),
                std::to_string(weights + biases) + " values (" + std::to_string(weights) + " without biases)",
                std::to_string(size));
  }
  return {size, size != weights};
}

Array part_of(const Vector& values, Index begin, std::vector<Index> shape, Index count) {
  const double* first = values.data() + begin;
  return {std::move(shape), {first, first + count}};
}

std::vector<ImportedLayer> cut(const std::vector<LayerSlot>& slots, const FlatLayout& layout,
                               const Vector& mean, const Vector& deviation) {
  std::vector<ImportedLayer> layers;
  Index begin = 0;
  for (const LayerSlot& slot : slots) {
    ImportedLayer layer{slot.name, "mean", "mean", {}, {}, {}, {}};
    const Index count = slot.weights();
    layer.weight_mean = part_of(mean, begin, slot.weight_shape, count);
    if (deviation.size() > 0) layer.weight_deviation = part_of(deviation, begin, slot.weight_shape, count);
    begin += count;
    if (layout.has_bias) {
      layer.bias_mean = part_of(mean, begin, {slot.outputs()}, slot.outputs());
      if (deviation.size() > 0) {
        layer.bias_deviation = part_of(deviation, begin, {slot.outputs()}, slot.outputs());
      }
      begin += slot.outputs();
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

Vector as_vector(const Array& array) { return Eigen::Map<const Vector>(array.values.data(), array.size()); }

Vector deviations_of(const ImportSource& source, const std::string& key, const Vector& precision) {
  for (Index i = 0; i < precision.size(); ++i) {
    if (precision[i] > 0.0 && std::isfinite(precision[i])) continue;
    source.fail(in_quotes(key), "precisions above 0",
                std::to_string(precision[i]) + " at index " + std::to_string(i));
  }
  return precision.cwiseSqrt().cwiseInverse();
}

}  // namespace mixcert::io
