// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a JSON object says of each kind of layer, docs/model-format.md: reading beside writing. A kind of the
// variant without both functions does not compile.
#include "io/models/layer_fields.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "io/models/graph_fields.h"
#include "io/models/law_fields.h"
#include "io/models/layer_tensors.h"
#include "io/models/tensor_source.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network.h"

namespace mixcert::io {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using std::type_identity;
// graph_fields.cc has some kinds, this file the others.
using io::read_kind;
using io::write_kind;

DenseEntry read_dense_fields(const EntryFields& fields, ArchitectureReader& reader) {
  fields.only_keys({"type", "name", "in", "out", "law", "degrees", "factor"});
  const std::string name = reader.fresh_name(fields);
  const Index inputs = fields.count("in");
  DenseEntry layer{name, inputs, fields.count("out"), {}};
  if (fields.has("law")) layer.law = read_law(fields);
  if (fields.has("degrees") && !layer.law) fields.bad("degrees", "them beside a law", "no law");
  if (fields.has("factor")) {
    const std::string factor = fields.text("factor");
    if (factor != "common") fields.bad("factor", "common", in_quotes(factor));
    layer.has_common_factor = true;
  }
  reader.tell({layer.inputs, {}, false});
  reader.shape = shape_after_dense(layer.name, layer.inputs, layer.outputs, reader.shape);
  return layer;
}

LayerEntry read_kind(type_identity<DenseSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  return dense_entry(read_dense_fields(fields, reader));
}

void write_kind(const DenseSpec& spec, ordered_json& entry) {
  const DenseLayer& layer = spec.layer;
  entry["name"] = layer.name();
  entry["in"] = layer.inputs();
  entry["out"] = layer.outputs();
  write_law(layer, entry);
  if (common_factor_count(layer.weights()) > 0) entry["factor"] = "common";
}

ordered_json size_json(const Size2d& size) {
  if (size.height == size.width) return size.height;
  return ordered_json::array({size.height, size.width});
}

/// Members of the window that differ from what a reader assumes.
void write_window(const Window2d& window, ordered_json& entry) {
  entry["kernel"] = size_json(window.kernel);
  entry["stride"] = size_json(window.stride);
  entry["padding"] = size_json(window.padding);
  if (window.dilation != Size2d{}) entry["dilation"] = size_json(window.dilation);
}

LayerEntry read_kind(type_identity<Conv2dSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys(
      {"type", "name", "in", "out", "height", "width", "kernel", "stride", "padding", "dilation", "groups"});
  Conv2dSpec spec;
  spec.name = fields.name();
  spec.in = fields.count("in");
  spec.out = fields.count("out");
  const Index height = fields.count("height");
  spec.image = {height, fields.count("width")};
  spec.window = fields.window({1, 1});
  if (fields.has("groups")) spec.groups = fields.count("groups");
  (void)reader.fresh_name(fields);
  const MaybeShape behind = shape_after_convolution(spec, reader.shape);
  reader.tell({spec.in, spec.image, true});
  reader.shape = behind;
  const Size2d& taps = spec.window.kernel;
  const std::span<const std::string_view> endings = kernel_tensor_endings();
  return {.name = spec.name,
          .endings = {endings.begin(), endings.end()},
          .weight_shape = {spec.out, spec.in / spec.groups, taps.height, taps.width},
          .fill = [spec](const LayerEntry& self, TensorSource& source) -> LayerSpec {
            KernelTensors tensors = source.kernel(self.name, self.weight_shape);
            Conv2dSpec filled = spec;
            filled.kernel_mean = std::move(tensors.mean);
            filled.kernel_variance = std::move(tensors.variance);
            filled.bias_mean = std::move(tensors.bias_mean);
            filled.bias_variance = std::move(tensors.bias_variance);
            return filled;
          }};
}

void write_kind(const Conv2dSpec& spec, ordered_json& entry) {
  entry["name"] = spec.name;
  entry["in"] = spec.in;
  entry["out"] = spec.out;
  entry["height"] = spec.image.height;
  entry["width"] = spec.image.width;
  write_window(spec.window, entry);
  if (spec.groups != 1) entry["groups"] = spec.groups;
}

template <class Spec>
LayerEntry read_pool(const EntryFields& fields, ArchitectureReader& reader) {
  fields.only_keys({"type", "kernel", "stride", "padding"});
  const Window2d window = fields.window({0, 0});
  reader.shape = shape_after_pool(std::string(Spec::kType), window, reader.shape);
  return complete_entry(Spec{window});
}

LayerEntry read_kind(type_identity<AvgPool2dSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  return read_pool<AvgPool2dSpec>(fields, reader);
}

void write_kind(const AvgPool2dSpec& spec, ordered_json& entry) { write_window(spec.window, entry); }

LayerEntry read_kind(type_identity<MaxPool2dSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  return read_pool<MaxPool2dSpec>(fields, reader);
}

void write_kind(const MaxPool2dSpec& spec, ordered_json& entry) { write_window(spec.window, entry); }

LayerEntry read_kind(type_identity<FlattenSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type"});
  reader.shape = shape_after_flatten(reader.shape);
  return complete_entry(FlattenSpec{});
}

void write_kind(const FlattenSpec& /*spec*/, ordered_json& /*entry*/) {}

LayerEntry read_kind(type_identity<BatchNormSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type", "name", "features", "epsilon"});
  const std::string name = reader.fresh_name(fields);
  const Index features = fields.count("features");
  const double epsilon = fields.number("epsilon");
  if (epsilon < 0.0) fields.bad("epsilon", "a number, at least 0", "a negative one");
  reader.shape = shape_after_batch_norm(name, features, reader.shape);
  return {.name = name,
          .endings = {".weight", ".bias", ".running_mean", ".running_variance"},
          .fill = [features, epsilon](const LayerEntry& self, TensorSource& source) -> LayerSpec {
            const auto values = [&](std::string_view ending) {
              return source.values(self.name, ending, features);
            };
            return BatchNormSpec{self.name,
                                 values(".weight"),
                                 values(".bias"),
                                 values(".running_mean"),
                                 values(".running_variance"),
                                 epsilon};
          }};
}

void write_kind(const BatchNormSpec& spec, ordered_json& entry) {
  entry["name"] = spec.name;
  entry["features"] = spec.weight.size();
  entry["epsilon"] = spec.epsilon;
}

void refuse_other_parameters(const EntryFields& fields, ActivationFunction function) {
  const std::pair<const char*, const char*> owners[] = {
      {"slope", "leaky_relu"}, {"lower", "hardtanh"}, {"upper", "hardtanh"}, {"alpha", "elu and celu"}};
  for (const auto& [name, owner] : owners) {
    const auto is_own = [key = std::string_view(name)](const ActivationParameter& p) {
      return p.name == key;
    };
    const std::vector<ActivationParameter>& own = parameters_of(function);
    if (!fields.has(name) || std::any_of(own.begin(), own.end(), is_own)) continue;
    fields.bad(name, std::string(name) + " for " + owner + " only",
               std::string(name) + " for " + std::string(to_string(function)));
  }
}

LayerEntry read_kind(type_identity<ActivationSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& /*reader*/) {
  fields.only_keys({"type", "function", "slope", "lower", "upper", "alpha"});
  const ActivationFunction function = parse_activation_function(fields.text("function"));
  refuse_other_parameters(fields, function);
  ActivationParameters parameters;
  for (const auto& [name, member] : parameters_of(function)) {
    if (fields.has(name)) parameters.*member = fields.number(name);
  }
  return complete_entry(ActivationSpec{Activation(function, parameters)});
}

void write_kind(const ActivationSpec& spec, ordered_json& entry) {
  entry["function"] = to_string(spec.activation.function());
  for (const auto& [name, member] : parameters_of(spec.activation.function())) {
    // Defaults are left out, but for slopes, which always were written.
    const double value = spec.activation.parameters().*member;
    const bool is_default = value == ActivationParameters{}.*member;
    if (!is_default || member == &ActivationParameters::slope) entry[name] = value;
  }
}

double read_rate(const EntryFields& fields) {
  fields.only_keys({"type", "rate"});
  return Mask::bernoulli(fields.number("rate")).rate();  // checks it
}

LayerEntry read_kind(type_identity<DropoutSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& /*reader*/) {
  return complete_entry(DropoutSpec{read_rate(fields)});
}

void write_kind(const DropoutSpec& spec, ordered_json& entry) { entry["rate"] = spec.rate; }

LayerEntry read_kind(type_identity<Dropout2dSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& /*reader*/) {
  return complete_entry(Dropout2dSpec{read_rate(fields)});
}

void write_kind(const Dropout2dSpec& spec, ordered_json& entry) { entry["rate"] = spec.rate; }

LayerEntry read_kind(type_identity<GaussianDropoutSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& /*reader*/) {
  return complete_entry(GaussianDropoutSpec{read_rate(fields)});
}

void write_kind(const GaussianDropoutSpec& spec, ordered_json& entry) { entry["rate"] = spec.rate; }

LayerEntry read_kind(type_identity<GaussianNoiseSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& /*reader*/) {
  fields.only_keys({"type", "std"});
  const double deviation = fields.number("std");
  if (deviation < 0.0) fields.bad("std", "a number, at least 0", "a negative one");
  return complete_entry(GaussianNoiseSpec{deviation});
}

void write_kind(const GaussianNoiseSpec& spec, ordered_json& entry) { entry["std"] = spec.deviation; }

LayerEntry read_kind(type_identity<ResidualSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type", "layers", "skip"});
  const MaybeShape before = reader.shape;
  LayerEntry block;
  block.layers = reader.read_inner(fields, "layers", "residual blocks");
  const MaybeShape inner = reader.shape;
  reader.shape = before;
  const std::size_t own = block.layers.size();
  if (fields.has("skip")) {
    for (LayerEntry& layer : reader.read_inner(fields, "skip", "residual blocks"))
      block.layers.push_back(std::move(layer));
  }
  block.fill = [own](const LayerEntry& self, TensorSource& source) -> LayerSpec {
    std::vector<LayerSpec> layers = source.filled(self.layers);
    const auto middle = layers.begin() + static_cast<std::ptrdiff_t>(own);
    return ResidualSpec{{layers.begin(), middle}, SkipLayers({middle, layers.end()})};
  };
  reader.shape = shape_after_residual(reader.shape, inner);
  return block;
}

void write_kind(const ResidualSpec& spec, ordered_json& entry) {
  entry["layers"] = fields_of(spec.layers);
  if (!spec.skip.layers.empty()) entry["skip"] = fields_of(spec.skip.layers);
}

LayerEntry read_kind(type_identity<MixtureSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type", "weights", "layers"});
  std::vector<double> weights;
  for (const json& weight : fields.list("weights")) {
    if (!weight.is_number()) fields.bad("weights", "numbers", json_text(weight));
    weights.push_back(weight.get<double>());
  }
  const json& list = fields.list("layers");
  const MaybeShape before = reader.shape;
  LayerEntry mixture;
  mixture.draws_one = true;
  std::vector<DenseEntry> alternatives;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const EntryFields inner(list[i], reader.file(), fields.field() + ".layers[" + std::to_string(i) + "]");
    if (!list[i].is_object()) bad_file(reader.file(), inner.field(), "a JSON object", json_text(list[i]));
    if (inner.text("type") != "dense") inner.bad("type", "dense", in_quotes(inner.text("type")));
    if (inner.has("inputs")) inner.bad("inputs", "them beside the mixture", "those of an alternative");
    reader.shape = before;
    alternatives.push_back(read_dense_fields(inner, reader));
    mixture.layers.push_back(dense_entry(alternatives.back()));
  }
  mixture.fill = [weights, alternatives](const LayerEntry& /*self*/, TensorSource& source) -> LayerSpec {
    MixtureSpec spec{weights, {}};
    for (const DenseEntry& one : alternatives) spec.alternatives.push_back({source.alternative(one)});
    return spec;
  };
  return mixture;
}

void write_kind(const MixtureSpec& spec, ordered_json& entry) {
  entry["weights"] = spec.weights;
  entry["layers"] = fields_of({spec.alternatives.begin(), spec.alternatives.end()});
}

using Reader = LayerEntry (*)(const EntryFields&, ArchitectureReader&);

/// Of all kinds, by their names in files.
template <class... Specs>
std::map<std::string_view, Reader> readers_of(type_identity<std::variant<Specs...>> /*kinds*/) {
  return {{Specs::kType, [](const EntryFields& fields, ArchitectureReader& reader) {
             return read_kind(type_identity<Specs>(), fields, reader);
           }}...};
}

}  // namespace

LayerEntry read_fields(const EntryFields& fields, ArchitectureReader& reader) {
  static const std::map<std::string_view, Reader> readers = readers_of(type_identity<LayerSpecVariant>());
  const std::string type = fields.text("type");
  const auto found = readers.find(type);
  if (found != readers.end()) return found->second(fields, reader);
  std::string known;
  for (const auto& [name, unused] : readers) known.append(known.empty() ? "" : ", ").append(name);
  fields.bad("type", "one of " + known, in_quotes(type));
}

ordered_json fields_of(const std::vector<LayerSpec>& layers) {
  ordered_json entries = ordered_json::array();
  for (const LayerSpec& spec : layers) {
    ordered_json entry = {{"type", std::string(type_name(spec))}};
    std::visit([&](const auto& layer) { write_kind(layer, entry); }, spec.variant());
    if (const std::string name = node_name(spec); !name.empty()) {
      require(!entry.contains("name") || entry["name"] == name,
              title(spec) + ": expected one name for its tensors and for other entries, got " +
                  in_quotes(name) + " too");
      entry["name"] = name;
    }
    if (!spec.inputs.empty()) entry["inputs"] = spec.inputs;
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace mixcert::io
