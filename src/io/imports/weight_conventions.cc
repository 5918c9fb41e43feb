// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From a dictionary of arrays to layers: the architecture says which layers there are and how they follow
// each other, the convention what their weights are.
#include "mixcert/io/weight_conventions.h"

#include <algorithm>
#include <set>

#include "io/files/file_error.h"
#include "io/imports/import_architecture.h"
#include "io/imports/imported_layers.h"
#include "io/models/tensor_source.h"
#include "mixcert/core/error.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert {
namespace io {

namespace {

class Importer final : public TensorSource {
 public:
  explicit Importer(const ImportSource& source) : source_(source) {}

  ImportedModel run() {
    const std::vector<std::string>& known = import_libraries();
    if (std::find(known.begin(), known.end(), library()) == known.end()) {
      std::string list;
      for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
      throw InvalidArgument("library: expected one of " + list + ", got " + in_quotes(library()));
    }
    const std::vector<LayerEntry> entries = is_flat(library()) ? flat_layers() : named_layers();
    model_.layers = filled(entries);
    if (used_.size() != found_.size()) {
      for (const ImportedLayer& layer : found_) {
        if (!used_.contains(layer.name)) {
          source_.fail(in_quotes(layer.weight_key), "layers of the architecture", "one that it has not");
        }
      }
    }
    (void)layer_shapes(model_.layers);
    return std::move(model_);
  }

  DenseLayer dense(const DenseEntry& entry) override {
    const ImportedLayer& layer = find(entry.name);
    check_shapes(layer, {entry.outputs, entry.inputs});
    WeightCovariance weights = DeterministicWeights{};
    if (layer.weights) {
      weights = *layer.weights;
    } else if (!layer.weight_deviation.values.empty()) {
      weights = MeanFieldWeights{as_matrix(layer.weight_deviation).cwiseAbs2()};
    }
    BiasCovariance bias = DeterministicBias{};
    if (layer.bias) {
      bias = *layer.bias;
    } else if (!layer.bias_deviation.values.empty()) {
      bias = IndependentBias{variances_of(layer.bias_deviation)};
    }
    const Vector bias_mean =
        layer.bias_mean.values.empty() ? Vector::Zero(entry.outputs).eval() : values_of(layer.bias_mean);
    return {entry.name, as_matrix(layer.weight_mean), bias_mean, std::move(weights), std::move(bias)};
  }

  DenseLayer alternative(const DenseEntry& /*entry*/) override { refuse_mixture(source_); }

  KernelTensors kernel(const std::string& name, const std::vector<Index>& shape) override {
    const ImportedLayer& layer = find(name);
    check_shapes(layer, shape);
    if (layer.weights || layer.bias) {
      source_.fail(in_quotes(layer.weight_key), "independent weights of a convolution", "correlated ones");
    }
    return {values_of(layer.weight_mean), variances_of(layer.weight_deviation), values_of(layer.bias_mean),
            variances_of(layer.bias_deviation)};
  }

  Vector values(const std::string& name, std::string_view ending, Index size) override {
    // As torch calls it.
    const std::string key = name + std::string(ending == ".running_variance" ? ".running_var" : ending);
    const Array& array = source_.one(key);
    if (array.shape != std::vector<Index>{size}) {
      source_.fail(in_quotes(key), "shape [" + std::to_string(size) + "]", shape_text(array.shape));
    }
    return values_of(array);
  }

  Vector optional_values(const std::string& name, std::string_view ending) override {
    const std::string key = name + std::string(ending);
    if (!source_.has(key)) return {};
    return values_of(source_.one(key));
  }

 private:
  [[nodiscard]] const std::string& library() const { return source_.options.library; }

  std::vector<LayerEntry> flat_layers() {
    const std::vector<Index> widths = parse_widths(source_.options.architecture);
    std::vector<LayerEntry> entries;
    if (widths.empty()) {
      entries = parse_architecture(source_.options.architecture, source_.label);
    } else {
      std::vector<std::string> names;
      for (std::size_t k = 0; k + 1 < widths.size(); ++k) names.push_back(std::to_string(k));
      entries = chain(widths, names, source_.options.activation);
    }
    std::vector<LayerSlot> slots;
    collect_slots(entries, slots, source_);
    if (slots.empty()) bad_file(source_.label, "architecture", "layers with weights", "none");
    found_ = split_flat(source_, slots, model_.assumptions);
    return entries;
  }

  std::vector<LayerEntry> named_layers() {
    const std::vector<Index> widths = parse_widths(source_.options.architecture);
    std::vector<LayerEntry> entries;
    if (widths.empty()) entries = parse_architecture(source_.options.architecture, source_.label);
    found_ = recognise_layers(source_, tensors_beside_weights(entries), model_.assumptions);
    if (!widths.empty()) {
      entries = chain(widths, names_for(widths.size() - 1), source_.options.activation);
    }
    if (library() == "ivon") {
      if (!source_.arrays.keeps_order) sort_like(entries);
      add_ivon_deviations(source_, found_);
    }
    return entries;
  }

  /// Names of the layers in the order in which they act.
  std::vector<std::string> names_for(std::size_t count) const {
    if (found_.size() != count) {
      std::string list;
      for (const ImportedLayer& layer : found_) list += (list.empty() ? "" : ", ") + in_quotes(layer.name);
      bad_file(source_.label, "architecture", std::to_string(found_.size()) + " layers (" + list + ")",
               std::to_string(count));
    }
    if (!source_.options.layers.empty()) {
      if (source_.options.layers.size() != count) {
        bad_file(source_.label, "layers", std::to_string(count) + " names",
                 std::to_string(source_.options.layers.size()));
      }
      return source_.options.layers;
    }
    std::vector<std::string> names;
    std::set<std::string> kinds;
    for (const ImportedLayer& layer : found_) {
      names.push_back(layer.name);
      std::string kind = layer.name;
      std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
      kinds.insert(kind);
    }
    if (!source_.arrays.keeps_order && kinds.size() > 1) {
      bad_file(source_.label, "layers", "names that differ by numbers only, or --layers NAME,NAME,...",
               in_quotes(names[0]) + " and " + in_quotes(names[1]));
    }
    return names;
  }

  void sort_like(const std::vector<LayerEntry>& entries) {
    std::vector<LayerSlot> slots;
    collect_slots(entries, slots, source_);
    std::vector<ImportedLayer> sorted;
    sorted.reserve(slots.size());
    for (const LayerSlot& slot : slots) sorted.push_back(find(slot.name));
    found_ = std::move(sorted);
  }

  /// The layer of that name, or the only one whose name ends in it.
  const ImportedLayer& find(const std::string& name) const {
    const ImportedLayer* found = nullptr;
    for (const ImportedLayer& layer : found_) {
      if (layer.name == name) return layer;
      if (!has_ending(layer.name, name)) continue;
      if (found != nullptr) source_.fail(in_quotes(name), "one layer whose name ends so", "several");
      found = &layer;
    }
    if (found == nullptr) source_.fail(in_quotes(name), "a layer of this name", "none");
    return *found;
  }

  void check_shapes(const ImportedLayer& layer, const std::vector<Index>& shape) {
    if (layer.weight_mean.shape != shape) {
      source_.fail(in_quotes(layer.weight_key), "shape " + shape_text(shape),
                   shape_text(layer.weight_mean.shape));
    }
    const bool bias = layer.bias_mean.values.empty() || layer.bias_mean.shape == std::vector<Index>{shape[0]};
    if (!bias) {
      source_.fail(in_quotes(layer.bias_key), "shape [" + std::to_string(shape[0]) + "]",
                   shape_text(layer.bias_mean.shape));
    }
    used_.insert(layer.name);
  }

  static Vector values_of(const Array& array) {
    return Eigen::Map<const Vector>(array.values.data(), array.size());
  }
  static Vector variances_of(const Array& deviations) { return values_of(deviations).cwiseAbs2(); }

  const ImportSource& source_;
  std::vector<ImportedLayer> found_;
  std::set<std::string> used_;
  ImportedModel model_;
};

}  // namespace
}  // namespace io

const std::vector<std::string>& import_libraries() {
  static const std::vector<std::string> names = {
      "plain", "bayesian-torch", "blitz",   "torchbnn", "bayesian-cnn", "torch-uncertainty",
      "pyro",  "pyro-diagonal",  "numpyro", "ivon",     "vogn",         "laplace",
      "swag"};
  return names;
}

ImportedModel import_weights(const NamedArrays& arrays, const ImportOptions& options,
                             const std::string& label) {
  const io::ImportSource source{arrays, options, label};
  return io::Importer(source).run();
}

}  // namespace mixcert
