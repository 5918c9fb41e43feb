// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Writing the architecture of a model file.
#include <nlohmann/json.hpp>

#include "io/models/architecture.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

using nlohmann::ordered_json;

ordered_json size_json(const Size2d& size) {
  if (size.height == size.width) return size.height;
  return ordered_json::array({size.height, size.width});
}

/// Members of the window that differ from what a reader assumes.
void add_window(ordered_json& entry, const Window2d& window) {
  entry["kernel"] = size_json(window.kernel);
  entry["stride"] = size_json(window.stride);
  entry["padding"] = size_json(window.padding);
  if (window.dilation != Size2d{}) entry["dilation"] = size_json(window.dilation);
}

/// The one shape of the layer's independent parameters.
EntryLaw common_law(const DenseLayer& layer) {
  const auto* weights = std::get_if<MeanFieldWeights>(&layer.weights());
  const auto* bias = std::get_if<IndependentBias>(&layer.bias());
  if (weights == nullptr) return bias == nullptr ? EntryLaw() : bias->law;
  const bool agree = bias == nullptr || (bias->law.family() == weights->law.family() &&
                                         bias->law.degrees() == weights->law.degrees());
  require(agree, "layer '" + layer.name() + "': a file gives weights and bias one law, got " +
                     weights->law.name() + " and " + (bias == nullptr ? "" : bias->law.name()));
  return weights->law;
}

class EntryWriter {
 public:
  static ordered_json list(const std::vector<LayerSpec>& layers) {
    ordered_json entries = ordered_json::array();
    for (const LayerSpec& spec : layers) {
      ordered_json entry = {{"type", std::string(type_name(spec))}};
      std::visit([&](const auto& layer) { add(entry, layer); }, spec.variant());
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  static void add(ordered_json& entry, const DenseSpec& spec) {
    const DenseLayer& layer = spec.layer;
    entry["name"] = layer.name();
    entry["in"] = layer.inputs();
    entry["out"] = layer.outputs();
    const EntryLaw law = common_law(layer);
    if (law.is_normal()) return;
    const bool student = law.family() == EntryLaw::Family::StudentT;
    entry["law"] = student ? "student_t" : law.name();
    if (student) entry["degrees"] = law.degrees();
  }
  static void add(ordered_json& entry, const Conv2dSpec& spec) {
    entry["name"] = spec.name;
    entry["in"] = spec.in;
    entry["out"] = spec.out;
    entry["height"] = spec.image.height;
    entry["width"] = spec.image.width;
    add_window(entry, spec.window);
    if (spec.groups != 1) entry["groups"] = spec.groups;
  }
  static void add(ordered_json& entry, const AvgPool2dSpec& spec) { add_window(entry, spec.window); }
  static void add(ordered_json& entry, const MaxPool2dSpec& spec) { add_window(entry, spec.window); }
  static void add(ordered_json& /*entry*/, const FlattenSpec& /*spec*/) {}
  static void add(ordered_json& entry, const BatchNormSpec& spec) {
    entry["name"] = spec.name;
    entry["features"] = spec.weight.size();
    entry["epsilon"] = spec.epsilon;
  }
  static void add(ordered_json& entry, const ActivationSpec& spec) {
    entry["function"] = to_string(spec.activation.function());
    if (spec.activation.has_slope()) entry["slope"] = spec.activation.slope();
  }
  static void add(ordered_json& entry, const DropoutSpec& spec) { entry["rate"] = spec.rate; }
  static void add(ordered_json& entry, const GaussianDropoutSpec& spec) { entry["rate"] = spec.rate; }
  static void add(ordered_json& entry, const GaussianNoiseSpec& spec) { entry["std"] = spec.deviation; }
  static void add(ordered_json& entry, const ResidualSpec& spec) { entry["layers"] = list(spec.layers); }
  static void add(ordered_json& entry, const MixtureSpec& spec) {
    entry["weights"] = spec.weights;
    entry["layers"] = list({spec.alternatives.begin(), spec.alternatives.end()});
  }
};

}  // namespace

std::string architecture_text(const std::vector<LayerSpec>& layers) {
  return EntryWriter::list(layers).dump();
}

}  // namespace mixcert::io
