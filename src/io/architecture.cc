// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Parsing and writing the architecture of a model file.
#include "io/architecture.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/file_error.h"
#include "io/strict_json.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

using nlohmann::json;

constexpr Index kMaxWidth = (Index{1} << 31) - 1;

class ArchitectureParser {
 public:
  explicit ArchitectureParser(const std::string& file) : file_(file) {}

  Architecture parse(const json& list) {
    if (!list.is_array() || list.empty()) {
      bad_file(file_, "architecture", "a JSON list of layers", json_text(list));
    }
    for (const json& entry : list) {
      field_ = "architecture[" + std::to_string(position_++) + "]";
      if (!entry.is_object()) bad_file(file_, field_, "a JSON object", json_text(entry));
      const std::string type = json_string(entry, "type", file_, field_);
      if (type == "dense") {
        add_dense(entry);
      } else if (type == "activation") {
        add_activation(entry);
      } else {
        bad_file(file_, field_ + ": type", "dense or activation", in_quotes(type));
      }
    }
    if (pending_) bad_file(file_, field_, "a dense layer at the end", "an activation");
    return std::move(result_);
  }

 private:
  void add_dense(const json& entry) {
    require_keys(entry, {"type", "name", "in", "out"}, file_, field_);
    DenseEntry layer{json_string(entry, "name", file_, field_), width(entry, "in"), width(entry, "out")};
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
    if (layer.name.empty() || std::any_of(layer.name.begin(), layer.name.end(), is_control)) {
      bad_file(file_, field_ + ": name", "a name without control characters", in_quotes(layer.name));
    }
    for (const DenseEntry& other : result_.layers) {
      if (other.name == layer.name) {
        bad_file(file_, field_ + ": name", "each name once", "two of " + in_quotes(layer.name));
      }
    }
    if (!result_.layers.empty() && result_.layers.back().outputs != layer.inputs) {
      bad_file(file_, field_ + ": in",
               std::to_string(result_.layers.back().outputs) + " (outputs of the layer before)",
               std::to_string(layer.inputs));
    }
    result_.layers.push_back(std::move(layer));
    result_.activations.push_back(pending_.value_or(Activation()));
    pending_.reset();
  }

  void add_activation(const json& entry) {
    require_keys(entry, {"type", "function", "slope"}, file_, field_);
    if (pending_) bad_file(file_, field_, "a dense layer after an activation", "another activation");
    const std::string name = json_string(entry, "function", file_, field_);
    try {
      const ActivationFunction function = parse_activation_function(name);
      pending_ =
          entry.contains("slope") ? Activation(function, slope(entry, function)) : Activation(function);
    } catch (const InvalidArgument& error) {
      throw FileError(file_ + ": " + field_ + ": " + error.what());
    }
  }

  double slope(const json& entry, ActivationFunction function) const {
    if (function != ActivationFunction::LeakyRelu) {
      bad_file(file_, field_, "slope for leaky_relu only", "slope for " + std::string(to_string(function)));
    }
    const json& value = entry["slope"];
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      bad_file(file_, field_ + ": slope", "a finite number", json_text(value));
    }
    return value.get<double>();
  }

  Index width(const json& entry, const char* key) const {
    const auto found = entry.find(key);
    const std::string field = field_ + ": " + key;
    if (found == entry.end()) bad_file(file_, field, "an integer", "none");
    const Index value = json_size(*found, file_, field);
    if (value < 1 || value > kMaxWidth) {
      bad_file(file_, field, "an integer in 1.." + std::to_string(kMaxWidth), std::to_string(value));
    }
    return value;
  }

  const std::string& file_;
  std::string field_;
  Index position_ = 0;
  Architecture result_;
  std::optional<Activation> pending_;
};

}  // namespace

Architecture parse_architecture(const std::string& text, const std::string& file) {
  return ArchitectureParser(file).parse(parse_strict_json(text, file, "architecture"));
}

std::string architecture_text(const Network& network) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (Index k = 0; k < network.layer_count(); ++k) {
    const Activation& activation = network.activation(k).common();
    if (activation.function() != ActivationFunction::Identity) {
      nlohmann::ordered_json entry = {{"type", "activation"}, {"function", to_string(activation.function())}};
      if (activation.function() == ActivationFunction::LeakyRelu) entry["slope"] = activation.slope();
      list.push_back(std::move(entry));
    }
    const DenseLayer& layer = network.layer(k);
    list.push_back(
        {{"type", "dense"}, {"name", layer.name()}, {"in", layer.inputs()}, {"out", layer.outputs()}});
  }
  return list.dump();
}

}  // namespace mixcert::io
