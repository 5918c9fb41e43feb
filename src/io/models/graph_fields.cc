// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "io/models/graph_fields.h"

#include "io/models/tensor_source.h"

namespace mixcert::io {

using nlohmann::ordered_json;
using std::type_identity;

LayerEntry read_kind(type_identity<AddSpec> /*kind*/, const EntryFields& fields, ArchitectureReader& reader) {
  fields.only_keys({"type"});
  reader.shape = shape_after_add(fields.title(), reader.shapes);
  return complete_entry(AddSpec{});
}

void write_kind(const AddSpec& /*spec*/, ordered_json& /*entry*/) {}

LayerEntry read_kind(type_identity<ConcatSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type"});
  reader.shape = shape_after_concat(fields.title(), reader.shapes);
  return complete_entry(ConcatSpec{});
}

void write_kind(const ConcatSpec& /*spec*/, ordered_json& /*entry*/) {}

LayerEntry read_kind(type_identity<AffineSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type", "name"});
  return {.name = reader.fresh_name(fields),
          .endings = {".scale", ".shift"},
          .fill = [](const LayerEntry& self, TensorSource& source) -> LayerSpec {
            return AffineSpec{self.name, source.optional_values(self.name, ".scale"),
                              source.optional_values(self.name, ".shift")};
          }};
}

void write_kind(const AffineSpec& spec, ordered_json& entry) { entry["name"] = spec.name; }

LayerEntry read_kind(type_identity<ReshapeSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type", "shape"});
  const LayerShape own = fields.shape("shape");
  const MaybeShape behind = shape_after_reshape(fields.title(), own, reader.shape);
  reader.tell({own.size(), {}, false});
  reader.shape = behind;
  return complete_entry(ReshapeSpec{own});
}

void write_kind(const ReshapeSpec& spec, ordered_json& entry) {
  const auto& [channels, image, is_image] = spec.shape;
  entry["shape"] =
      is_image ? ordered_json::array({channels, image.height, image.width}) : ordered_json::array({channels});
}

LayerEntry read_kind(type_identity<MeanSpec> /*kind*/, const EntryFields& fields,
                     ArchitectureReader& reader) {
  fields.only_keys({"type"});
  reader.shape = shape_after_mean(fields.title(), reader.shape);
  return complete_entry(MeanSpec{});
}

void write_kind(const MeanSpec& /*spec*/, ordered_json& /*entry*/) {}

}  // namespace mixcert::io
