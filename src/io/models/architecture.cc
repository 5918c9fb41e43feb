// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lists of layers, whichever kinds they are of. Sizes are chained here, before any tensor is read.
#include "io/models/architecture.h"

#include <span>
#include <utility>

#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "io/models/entry_fields.h"
#include "io/models/layer_fields.h"
#include "io/models/layer_tensors.h"
#include "io/models/tensor_source.h"
#include "mixcert/core/error.h"
#include "network/layers/graph_plan.h"

namespace mixcert::io {
namespace {

/// Layers inside each other.
constexpr int kMaxNesting = 4;

/// Names, whatever they are: the list says whose they may be.
std::vector<std::string> read_inputs(const EntryFields& fields) {
  std::vector<std::string> inputs;
  if (!fields.has("inputs")) return inputs;
  for (const nlohmann::json& name : fields.list("inputs")) {
    if (!name.is_string()) fields.bad("inputs", "names of entries", json_text(name));
    inputs.push_back(name.get<std::string>());
  }
  return inputs;
}

/// Names and inputs of all entries, before anything else of them is read.
std::vector<EntryHead> read_heads(const nlohmann::json& list, const std::string& file,
                                  const std::string& field) {
  std::vector<EntryHead> heads;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const EntryFields fields(list[i], file, field + "[" + std::to_string(i) + "]");
    if (!list[i].is_object()) bad_file(file, fields.field(), "a JSON object", json_text(list[i]));
    const std::string type = fields.text("type"), name = fields.has("name") ? fields.name() : "";
    const bool names_tensors =
        type == DenseSpec::kType || type == Conv2dSpec::kType || type == BatchNormSpec::kType;
    heads.push_back(
        {entry_title(type, name, i), name, read_inputs(fields), joins_entries(type), names_tensors});
  }
  return heads;
}

}  // namespace

LayerEntry dense_entry(const DenseEntry& dense) {
  const std::span<const std::string_view> endings = dense_tensor_endings();
  return {.name = dense.name,
          .endings = {endings.begin(), endings.end()},
          .weight_shape = {dense.outputs, dense.inputs},
          .fill = [dense](const LayerEntry& /*self*/, TensorSource& source) -> LayerSpec {
            return DenseSpec{source.dense(dense)};
          }};
}

LayerEntry complete_entry(const LayerSpec& spec) {
  return {.fill = [spec](const LayerEntry& /*self*/, TensorSource& /*source*/) { return spec; }};
}

std::vector<LayerEntry> ArchitectureReader::read(const nlohmann::json& list, const std::string& field) {
  if (!list.is_array() || list.empty()) bad_file(file_, field, "a JSON list of layers", json_text(list));
  const std::vector<EntryHead> heads = read_heads(list, file_, field);
  std::vector<std::vector<Index>> links;
  try {
    links = linked_entries(heads);
  } catch (const InvalidArgument& error) {
    throw FileError(file_ + ": " + field + ": " + error.what());
  }
  MaybeShape input = shape;
  std::vector<MaybeShape> behind;
  std::vector<LayerEntry> layers;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const EntryFields fields(list[i], file_, field + "[" + std::to_string(i) + "]");
    std::vector<MaybeShape> before;
    for (const Index from : links[i])
      before.push_back(from == kListInput ? input : behind[static_cast<std::size_t>(from)]);
    shape = before.front();
    shapes = std::move(before);
    try {
      layers.push_back(read_fields(fields, *this));
    } catch (const InvalidArgument& error) {
      throw FileError(file_ + ": " + fields.field() + ": " + error.what());
    }
    layers.back().node = heads[i].name;
    layers.back().inputs = heads[i].inputs;
    behind.push_back(shape);
    if (!input) input = told_;
  }
  return layers;
}

std::string ArchitectureReader::fresh_name(const EntryFields& fields) {
  std::string name = fields.name();
  if (!names_.insert(name).second) fields.bad("name", "each name once", "two of " + in_quotes(name));
  return name;
}

std::vector<LayerEntry> ArchitectureReader::read_inner(const EntryFields& fields, const std::string& key,
                                                       const std::string& what) {
  if (depth_ == kMaxNesting) {
    fields.bad(key, what + " nested at most " + std::to_string(kMaxNesting) + " deep", "deeper nesting");
  }
  ++depth_;
  std::vector<LayerEntry> layers = read(fields.list(key.c_str()), fields.field() + "." + key);
  --depth_;
  return layers;
}

std::vector<LayerEntry> parse_architecture(const std::string& text, const std::string& file) {
  return ArchitectureReader(file).read(parse_strict_json(text, file, "architecture"), "architecture");
}

std::string architecture_text(const std::vector<LayerSpec>& layers) { return fields_of(layers).dump(); }

}  // namespace mixcert::io
