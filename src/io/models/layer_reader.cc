// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors of layers in a model file: which names they may have, and their values.
#include <array>
#include <set>

#include "io/files/file_error.h"
#include "io/models/layer_tensors.h"
#include "io/models/tensor_reader.h"
#include "io/models/tensor_source.h"

namespace mixcert::io {
namespace {

constexpr std::array<std::string_view, 6> kKernelEndings = {
    ".weight.mean", ".weight.variance", ".bias.mean", ".bias.variance", ".weight", ".bias"};

class NameCollector {
 public:
  explicit NameCollector(const std::string& file) : file_(file) {}

  void add(const std::vector<LayerEntry>& layers) {
    for (const LayerEntry& entry : layers) {
      for (const std::string_view ending : entry.endings) claim(entry.name + std::string(ending));
      add(entry.layers);
    }
  }
  [[nodiscard]] std::vector<std::string> names() const { return {names_.begin(), names_.end()}; }

 private:
  void claim(const std::string& name) {
    if (names_.insert(name).second) return;
    bad_file(file_, "architecture", "layer names that cannot be confused",
             "two layers that may own tensor " + in_quotes(name));
  }

  const std::string& file_;
  std::set<std::string> names_;
};

/// A mean may be called NAME.weight.mean or, where there is no variance, NAME.weight.
class KernelReader {
 public:
  KernelReader(const SafetensorsReader& reader, const std::string& name) : tensors_(reader, name) {}

  [[nodiscard]] KernelTensors read(const std::vector<Index>& shape) const {
    const std::vector<Index> outputs = {shape.front()};
    KernelTensors kernel;
    kernel.mean = tensors_.values(mean_of(".weight"), shape);
    if (tensors_.has(".weight.variance")) kernel.variance = tensors_.values(".weight.variance", shape);
    const std::string bias = mean_of(".bias");
    if (tensors_.has(bias)) kernel.bias_mean = tensors_.values(bias, outputs);
    if (tensors_.has(".bias.variance")) kernel.bias_variance = tensors_.values(".bias.variance", outputs);
    return kernel;
  }

 private:
  [[nodiscard]] std::string mean_of(const std::string& what) const {
    const bool plain = tensors_.has(what);
    const bool named = tensors_.has(what + ".mean");
    if (plain && named)
      tensors_.fail("one of " + what.substr(1) + " and " + what.substr(1) + ".mean", "both");
    if (!named && tensors_.has(what + ".variance")) {
      tensors_.fail(what.substr(1) + ".mean beside " + what.substr(1) + ".variance", "none");
    }
    return plain ? what : what + ".mean";
  }

  TensorReader tensors_;
};

class FileTensors final : public TensorSource {
 public:
  explicit FileTensors(const SafetensorsReader& reader) : reader_(reader) {}

  DenseLayer dense(const DenseEntry& entry) override { return read_dense(reader_, entry); }
  DenseLayer alternative(const DenseEntry& entry) override { return read_dense(reader_, entry); }
  KernelTensors kernel(const std::string& name, const std::vector<Index>& shape) override {
    return KernelReader(reader_, name).read(shape);
  }
  Vector values(const std::string& name, std::string_view ending, Index size) override {
    return TensorReader(reader_, name).values(ending, {size});
  }
  Vector optional_values(const std::string& name, std::string_view ending) override {
    const TensorReader tensors(reader_, name);
    if (!tensors.has(ending)) return {};
    const std::vector<Index>& shape = reader_.tensors().find(tensors.full(ending))->second.shape;
    if (shape.size() != 1 || shape.front() == 0) {
      bad_file(reader_.label(), "tensor " + in_quotes(tensors.full(ending)), "shape [n]", shape_text(shape));
    }
    return tensors.values(ending, shape);
  }

 private:
  const SafetensorsReader& reader_;
};

}  // namespace

std::span<const std::string_view> kernel_tensor_endings() { return kKernelEndings; }

std::vector<std::string> owned_names(const std::vector<LayerEntry>& layers, const std::string& file) {
  NameCollector collector(file);
  collector.add(layers);
  return collector.names();
}

std::vector<LayerSpec> read_layers(const SafetensorsReader& reader, const std::vector<LayerEntry>& layers) {
  return FileTensors(reader).filled(layers);
}

}  // namespace mixcert::io
