// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors that describe layers of every type.
#include <algorithm>
#include <utility>

#include "io/files/file_error.h"
#include "io/models/layer_tensors.h"
#include "mixcert/core/error.h"
#include "network/layers/layer_kind.h"

namespace mixcert::io {
namespace {

class TensorWriter {
 public:
  explicit TensorWriter(std::map<std::string, Array>& tensors) : tensors_(tensors) {}

  void add(const LayerKind& layer) {
    const OwnTensors own = layer.tensors();
    if (own.dense != nullptr) add_dense(*own.dense);
    for (const LayerTensor& tensor : own.plain) {
      const bool stored = tensor.values->size() > 0 || is_mean_of_variance(tensor, own.plain);
      if (stored) put(*layer.name() + std::string(tensor.ending), array_of(tensor));
    }
    const InnerLayers inner = layer.inner();
    for (const LayerKindPointer& one : inner.layers) add(*one);
  }

 private:
  void add_dense(const DenseLayer& layer) {
    std::map<std::string, Array> own;
    add_dense_tensors(layer, own);
    for (auto& [name, array] : own) put(name, std::move(array));
  }

  /// Readers want a mean beside every variance.
  static bool is_mean_of_variance(const LayerTensor& tensor, const std::vector<LayerTensor>& all) {
    constexpr std::string_view mean = ".mean";
    if (!tensor.ending.ends_with(mean)) return false;
    const auto what = tensor.ending.substr(0, tensor.ending.size() - mean.size());
    return std::any_of(all.begin(), all.end(), [&](const LayerTensor& other) {
      return other.ending == std::string(what) + ".variance" && other.values->size() > 0;
    });
  }

  static Array array_of(const LayerTensor& tensor) {
    if (tensor.values->size() > 0) return {tensor.shape, {tensor.values->begin(), tensor.values->end()}};
    std::size_t count = 1;
    for (const Index size : tensor.shape) count *= static_cast<std::size_t>(size);
    return {tensor.shape, std::vector<double>(count, 0.0)};
  }

  void put(const std::string& name, Array&& array) {
    require(tensors_.try_emplace(name, std::move(array)).second,
            "expected layer names that differ, got two layers that own " + in_quotes(name));
  }

  std::map<std::string, Array>& tensors_;
};

}  // namespace

void add_tensors(const std::vector<LayerSpec>& layers, std::map<std::string, Array>& tensors) {
  TensorWriter writer(tensors);
  for (const LayerSpec& spec : layers) writer.add(*layer_kind(spec));
}

}  // namespace mixcert::io
