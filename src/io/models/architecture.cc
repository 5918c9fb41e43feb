// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Parsing the architecture of a model file. Sizes are chained here, before any tensor is read.
#include "io/models/architecture.h"

#include <functional>
#include <map>
#include <set>

#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "io/models/entry_fields.h"
#include "mixcert/core/error.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"

namespace mixcert::io {
namespace {

using nlohmann::json;

/// Residual blocks inside each other.
constexpr int kMaxNesting = 4;

EntryLaw parse_law(const EntryFields& fields) {
  static const std::map<std::string, EntryLaw::Family> families = {{"laplace", EntryLaw::Family::Laplace},
                                                                   {"uniform", EntryLaw::Family::Uniform},
                                                                   {"student_t", EntryLaw::Family::StudentT}};
  const std::string name = fields.text("law");
  const auto found = families.find(name);
  if (found == families.end()) fields.bad("law", "laplace, uniform or student_t", in_quotes(name));
  const bool student = found->second == EntryLaw::Family::StudentT;
  if (fields.has("degrees") && !student)
    fields.bad("degrees", "them for student_t only", "them for " + in_quotes(name));
  return student ? EntryLaw(found->second, fields.number("degrees")) : EntryLaw(found->second);
}

ActivationSpec parse_activation(const EntryFields& fields) {
  fields.only_keys({"type", "function", "slope"});
  const ActivationFunction function = parse_activation_function(fields.text("function"));
  if (!fields.has("slope")) return {Activation(function)};
  if (!Activation(function).has_slope()) {
    fields.bad("slope", "slope for leaky_relu only", "slope for " + std::string(to_string(function)));
  }
  return {Activation(function, fields.number("slope"))};
}

Conv2dSpec parse_convolution(const EntryFields& fields) {
  fields.only_keys(
      {"type", "name", "in", "out", "height", "width", "kernel", "stride", "padding", "dilation", "groups"});
  Conv2dSpec spec;
  spec.name = fields.name();
  spec.in = fields.count("in");
  spec.out = fields.count("out");
  spec.image = {fields.count("height"), fields.count("width")};
  spec.window = fields.window({1, 1});
  if (fields.has("groups")) spec.groups = fields.count("groups");
  return spec;
}

Window2d parse_pool(const EntryFields& fields) {
  fields.only_keys({"type", "kernel", "stride", "padding"});
  return fields.window({0, 0});
}

class ArchitectureParser {
 public:
  explicit ArchitectureParser(const std::string& file) : file_(file) {}

  std::vector<LayerEntry> parse(const json& list, const std::string& field, int depth) {
    if (!list.is_array() || list.empty()) bad_file(file_, field, "a JSON list of layers", json_text(list));
    std::vector<LayerEntry> layers;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const EntryFields fields(list[i], file_, field + "[" + std::to_string(i) + "]");
      if (!list[i].is_object()) bad_file(file_, fields.field(), "a JSON object", json_text(list[i]));
      try {
        layers.push_back(entry(fields, depth));
      } catch (const InvalidArgument& error) {
        throw FileError(file_ + ": " + fields.field() + ": " + error.what());
      }
    }
    return layers;
  }

 private:
  LayerEntry entry(const EntryFields& fields, int depth) {
    using Parser = std::function<LayerEntry()>;
    const std::map<std::string, Parser> parsers = {
        {"dense", [&] { return chained(dense(fields)); }},
        {"conv2d", [&] { return convolution(fields); }},
        {"avg_pool2d", [&] { return AvgPool2dSpec{pool(fields, "avg_pool2d")}; }},
        {"max_pool2d", [&] { return MaxPool2dSpec{pool(fields, "max_pool2d")}; }},
        {"flatten", [&] { return flatten(fields); }},
        {"batch_norm", [&] { return batch_norm(fields); }},
        {"activation", [&] { return parse_activation(fields); }},
        {"dropout", [&] { return DropoutSpec{rate(fields)}; }},
        {"gaussian_dropout", [&] { return GaussianDropoutSpec{rate(fields)}; }},
        {"gaussian_noise", [&] { return noise(fields); }},
        {"residual", [&] { return residual(fields, depth); }},
        {"mixture", [&] { return mixture(fields); }}};
    const std::string type = fields.text("type");
    const auto found = parsers.find(type);
    if (found != parsers.end()) return found->second();
    std::string known;
    for (const auto& [name, parser] : parsers) known += (known.empty() ? "" : ", ") + name;
    fields.bad("type", "one of " + known, in_quotes(type));
  }

  std::string fresh_name(const EntryFields& fields, std::string name) {
    if (!names_.insert(name).second) fields.bad("name", "each name once", "two of " + in_quotes(name));
    return name;
  }

  DenseEntry dense(const EntryFields& fields) {
    fields.only_keys({"type", "name", "in", "out", "law", "degrees"});
    DenseEntry layer{fresh_name(fields, fields.name()), fields.count("in"), fields.count("out"), {}};
    if (fields.has("law")) layer.law = parse_law(fields);
    if (fields.has("degrees") && !layer.law) fields.bad("degrees", "them beside a law", "no law");
    return layer;
  }

  DenseEntry chained(DenseEntry layer) {
    shape_ = shape_after_dense(layer.name, layer.inputs, layer.outputs, shape_);
    return layer;
  }

  Conv2dSpec convolution(const EntryFields& fields) {
    Conv2dSpec spec = parse_convolution(fields);
    fresh_name(fields, spec.name);
    shape_ = shape_after_convolution(spec, shape_);
    return spec;
  }

  Window2d pool(const EntryFields& fields, const std::string& type) {
    const Window2d window = parse_pool(fields);
    shape_ = shape_after_pool(type, window, shape_);
    return window;
  }

  FlattenSpec flatten(const EntryFields& fields) {
    fields.only_keys({"type"});
    shape_ = shape_after_flatten(shape_);
    return {};
  }

  BatchNormEntry batch_norm(const EntryFields& fields) {
    fields.only_keys({"type", "name", "features", "epsilon"});
    BatchNormEntry norm{fresh_name(fields, fields.name()), fields.count("features"),
                        fields.number("epsilon")};
    if (norm.epsilon < 0.0) fields.bad("epsilon", "a number, at least 0", "a negative one");
    shape_ = shape_after_batch_norm(norm.name, norm.features, shape_);
    return norm;
  }

  static double rate(const EntryFields& fields) {
    fields.only_keys({"type", "rate"});
    return Mask::bernoulli(fields.number("rate")).rate();  // checks it
  }

  static GaussianNoiseSpec noise(const EntryFields& fields) {
    fields.only_keys({"type", "std"});
    const double deviation = fields.number("std");
    if (deviation < 0.0) fields.bad("std", "a number, at least 0", "a negative one");
    return {deviation};
  }

  ResidualEntry residual(const EntryFields& fields, int depth) {
    fields.only_keys({"type", "layers"});
    if (depth == kMaxNesting) {
      fields.bad("layers", "residual blocks nested at most " + std::to_string(kMaxNesting) + " deep",
                 "deeper nesting");
    }
    const MaybeShape before = shape_;
    ResidualEntry block{parse(fields.list("layers"), fields.field() + ".layers", depth + 1)};
    shape_ = shape_after_residual(before, shape_);
    return block;
  }

  MixtureEntry mixture(const EntryFields& fields) {
    fields.only_keys({"type", "weights", "layers"});
    MixtureEntry entry;
    for (const json& weight : fields.list("weights")) {
      if (!weight.is_number()) fields.bad("weights", "numbers", json_text(weight));
      entry.weights.push_back(weight.get<double>());
    }
    const json& list = fields.list("layers");
    const MaybeShape before = shape_;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const EntryFields inner(list[i], file_, fields.field() + ".layers[" + std::to_string(i) + "]");
      if (!list[i].is_object()) bad_file(file_, inner.field(), "a JSON object", json_text(list[i]));
      if (inner.text("type") != "dense") inner.bad("type", "dense", in_quotes(inner.text("type")));
      shape_ = before;
      entry.layers.push_back(chained(dense(inner)));
    }
    return entry;
  }

  const std::string& file_;
  std::set<std::string> names_;
  MaybeShape shape_;  // behind the layers parsed so far
};

}  // namespace

std::vector<LayerEntry> parse_architecture(const std::string& text, const std::string& file) {
  return ArchitectureParser(file).parse(parse_strict_json(text, file, "architecture"), "architecture", 0);
}

}  // namespace mixcert::io
