// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers of every type with their tensors.
#include <algorithm>
#include <array>
#include <set>

#include "io/files/file_error.h"
#include "io/models/layer_tensors.h"
#include "io/models/tensor_reader.h"

namespace mixcert::io {
namespace {

constexpr std::array<std::string_view, 6> kConvolutionEndings = {
    ".weight.mean", ".weight.variance", ".bias.mean", ".bias.variance", ".weight", ".bias"};
constexpr std::array<std::string_view, 4> kBatchNormEndings = {".weight", ".bias", ".running_mean",
                                                               ".running_variance"};

class NameCollector {
 public:
  explicit NameCollector(const std::string& file) : file_(file) {}

  void add(const std::vector<LayerEntry>& layers) {
    for (const LayerEntry& entry : layers) std::visit(*this, entry.variant());
  }
  [[nodiscard]] std::vector<std::string> names() const { return {names_.begin(), names_.end()}; }

  void operator()(const DenseEntry& entry) { claim(entry.name, dense_tensor_endings()); }
  void operator()(const Conv2dSpec& entry) { claim(entry.name, kConvolutionEndings); }
  void operator()(const BatchNormEntry& entry) { claim(entry.name, kBatchNormEndings); }
  void operator()(const ResidualEntry& entry) { add(entry.layers); }
  void operator()(const MixtureEntry& entry) {
    for (const DenseEntry& layer : entry.layers) (*this)(layer);
  }
  void operator()(const auto& /*has no tensors*/) {}

 private:
  void claim(const std::string& layer, std::span<const std::string_view> endings) {
    for (const std::string_view ending : endings) {
      const std::string name = layer + std::string(ending);
      if (names_.insert(name).second) continue;
      bad_file(file_, "architecture", "layer names that cannot be confused",
               "two layers that may own tensor " + in_quotes(name));
    }
  }

  const std::string& file_;
  std::set<std::string> names_;
};

/// A mean may be called NAME.weight.mean or, where there is no variance, NAME.weight.
class ConvolutionReader {
 public:
  ConvolutionReader(const SafetensorsReader& reader, const Conv2dSpec& entry)
      : entry_(entry), tensors_(reader, entry.name) {}

  [[nodiscard]] Conv2dSpec read() const {
    Conv2dSpec spec = entry_;
    const Size2d& kernel = entry_.window.kernel;
    const std::vector<Index> shape = {entry_.out, entry_.in / entry_.groups, kernel.height, kernel.width};
    spec.kernel_mean = tensors_.values(mean_of(".weight"), shape);
    if (tensors_.has(".weight.variance")) spec.kernel_variance = tensors_.values(".weight.variance", shape);
    const std::string bias = mean_of(".bias");
    if (tensors_.has(bias)) spec.bias_mean = tensors_.values(bias, {entry_.out});
    if (tensors_.has(".bias.variance")) spec.bias_variance = tensors_.values(".bias.variance", {entry_.out});
    return spec;
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

  const Conv2dSpec& entry_;
  TensorReader tensors_;
};

class SpecReader {
 public:
  explicit SpecReader(const SafetensorsReader& reader) : reader_(reader) {}

  [[nodiscard]] std::vector<LayerSpec> read(const std::vector<LayerEntry>& layers) const {
    std::vector<LayerSpec> specs;
    specs.reserve(layers.size());
    for (const LayerEntry& entry : layers) specs.push_back(std::visit(*this, entry.variant()));
    return specs;
  }

  LayerSpec operator()(const DenseEntry& entry) const { return DenseSpec{read_dense(reader_, entry)}; }
  LayerSpec operator()(const Conv2dSpec& entry) const { return ConvolutionReader(reader_, entry).read(); }
  LayerSpec operator()(const BatchNormEntry& entry) const {
    const TensorReader tensors(reader_, entry.name);
    const auto values = [&](std::string_view ending) { return tensors.values(ending, {entry.features}); };
    return BatchNormSpec{entry.name,
                         values(".weight"),
                         values(".bias"),
                         values(".running_mean"),
                         values(".running_variance"),
                         entry.epsilon};
  }
  LayerSpec operator()(const ResidualEntry& entry) const { return ResidualSpec{read(entry.layers)}; }
  LayerSpec operator()(const MixtureEntry& entry) const {
    MixtureSpec mixture{entry.weights, {}};
    for (const DenseEntry& layer : entry.layers) mixture.alternatives.push_back({read_dense(reader_, layer)});
    return mixture;
  }
  LayerSpec operator()(const auto& complete) const { return complete; }

 private:
  const SafetensorsReader& reader_;
};

}  // namespace

std::vector<std::string> owned_names(const std::vector<LayerEntry>& layers, const std::string& file) {
  NameCollector collector(file);
  collector.add(layers);
  return collector.names();
}

std::vector<LayerSpec> read_layers(const SafetensorsReader& reader, const std::vector<LayerEntry>& layers) {
  return SpecReader(reader).read(layers);
}

}  // namespace mixcert::io
