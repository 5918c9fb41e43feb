// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The layers that an import is asked for: widths, or a list of layers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "io/imports/imported_layers.h"
#include "io/models/architecture.h"

namespace mixcert::io {

/// Widths joined by dashes; nothing where the text is something else.
std::vector<Index> parse_widths(const std::string& text);

/// No library has layers that are drawn.
[[noreturn]] void refuse_mixture(const ImportSource& source);

/// Layers of an architecture with weights, in order.
void collect_slots(const std::vector<LayerEntry>& entries, std::vector<LayerSlot>& slots,
                   const ImportSource& source);

/// Tensors by their full names that layers without weights have, such as factors: no convention knows them.
std::set<std::string> tensors_beside_weights(const std::vector<LayerEntry>& entries);

/// Dense layers of these widths, activations between them.
std::vector<LayerEntry> chain(const std::vector<Index>& widths, const std::vector<std::string>& names,
                              const std::string& activation);

}  // namespace mixcert::io
