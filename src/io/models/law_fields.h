// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Members `law` and `degrees` of a dense layer: the shape of its independent weights and biases.
#pragma once

#include <nlohmann/json.hpp>

#include "io/models/entry_fields.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert::io {

/// Where there is a member `law`.
EntryLaw read_law(const EntryFields& fields);
/// Nothing for normal laws; InvalidArgument where weights and bias have two.
void write_law(const DenseLayer& layer, nlohmann::ordered_json& entry);

}  // namespace mixcert::io
