// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The members of layers that graphs are made with: sums, concatenations, fixed factors, shapes and means.
#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>

#include "io/models/architecture.h"
#include "io/models/entry_fields.h"

namespace mixcert::io {

LayerEntry read_kind(std::type_identity<AddSpec> kind, const EntryFields& fields, ArchitectureReader& reader);
LayerEntry read_kind(std::type_identity<ConcatSpec> kind, const EntryFields& fields,
                     ArchitectureReader& reader);
LayerEntry read_kind(std::type_identity<AffineSpec> kind, const EntryFields& fields,
                     ArchitectureReader& reader);
LayerEntry read_kind(std::type_identity<ReshapeSpec> kind, const EntryFields& fields,
                     ArchitectureReader& reader);
LayerEntry read_kind(std::type_identity<MeanSpec> kind, const EntryFields& fields,
                     ArchitectureReader& reader);

void write_kind(const AddSpec& spec, nlohmann::ordered_json& entry);
void write_kind(const ConcatSpec& spec, nlohmann::ordered_json& entry);
void write_kind(const AffineSpec& spec, nlohmann::ordered_json& entry);
void write_kind(const ReshapeSpec& spec, nlohmann::ordered_json& entry);
void write_kind(const MeanSpec& spec, nlohmann::ordered_json& entry);

}  // namespace mixcert::io
