// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Where layers get their tensors from: a model file, or a dictionary of another library. Layers ask for what
// there are few sorts of, so that most kinds need nothing new here.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/models/architecture.h"

namespace mixcert::io {

/// Independent parameters, flat; those that are not there are empty.
struct KernelTensors {
  Vector mean;
  Vector variance;
  Vector bias_mean;
  Vector bias_variance;
};

/// All throw FileError where tensors are missing or have another shape.
class TensorSource {
 public:
  TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  virtual ~TensorSource() = default;

  /// Weights and biases of any law.
  virtual DenseLayer dense(const DenseEntry& entry) = 0;
  /// One of the layers of a mixture.
  virtual DenseLayer alternative(const DenseEntry& entry) = 0;
  /// A kernel of the given shape and one bias per output, which is the first index; both independent.
  virtual KernelTensors kernel(const std::string& name, const std::vector<Index>& shape) = 0;
  /// One deterministic tensor of `size` entries.
  virtual Vector values(const std::string& name, std::string_view ending, Index size) = 0;
  /// One with any number of entries; empty where it is not there.
  virtual Vector optional_values(const std::string& name, std::string_view ending) = 0;

  std::vector<LayerSpec> filled(const std::vector<LayerEntry>& entries) {
    std::vector<LayerSpec> layers;
    layers.reserve(entries.size());
    for (const LayerEntry& entry : entries) {
      LayerSpec layer = entry.fill(entry, *this);
      layer.inputs = entry.inputs;
      if (node_name(layer).empty()) layer.node = entry.node;
      layers.push_back(std::move(layer));
    }
    return layers;
  }
};

}  // namespace mixcert::io
