// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The members of a layer's JSON object, read and written: one pair of functions per kind of layer.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "io/models/architecture.h"
#include "io/models/entry_fields.h"

namespace mixcert::io {

/// FileError or InvalidArgument where members are missing, unknown or do not fit what was read so far.
LayerEntry read_fields(const EntryFields& fields, ArchitectureReader& reader);

nlohmann::ordered_json fields_of(const std::vector<LayerSpec>& layers);

}  // namespace mixcert::io
