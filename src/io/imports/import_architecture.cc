// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The layers that an import is asked for: widths, or a list of layers.
#include "io/imports/import_architecture.h"

#include <algorithm>
#include <sstream>

#include "io/files/file_error.h"

namespace mixcert::io {

std::vector<Index> parse_widths(const std::string& text) {
  std::vector<Index> widths;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, '-');) {
    const bool digits = !word.empty() && word.size() <= 9 &&
                        std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || std::stol(word) < 1) return {};
    widths.push_back(std::stol(word));
  }
  if (widths.size() < 2 || text.back() == '-') return {};
  return widths;
}

void refuse_mixture(const ImportSource& source) {
  bad_file(source.label, "architecture", "layers other than mixtures", "a mixture");
}

void collect_slots(const std::vector<LayerEntry>& entries, std::vector<LayerSlot>& slots,
                   const ImportSource& source) {
  for (const LayerEntry& entry : entries) {
    if (entry.draws_one) refuse_mixture(source);
    if (!entry.weight_shape.empty()) slots.push_back({entry.name, entry.weight_shape});
    collect_slots(entry.layers, slots, source);
  }
}

std::set<std::string> tensors_beside_weights(const std::vector<LayerEntry>& entries) {
  std::set<std::string> names;
  for (const LayerEntry& entry : entries) {
    if (entry.weight_shape.empty()) {
      for (const std::string_view ending : entry.endings) names.insert(entry.name + std::string(ending));
    }
    names.merge(tensors_beside_weights(entry.layers));
  }
  return names;
}

std::vector<LayerEntry> chain(const std::vector<Index>& widths, const std::vector<std::string>& names,
                              const std::string& activation) {
  const ActivationSpec between{Activation(parse_activation_function(activation))};
  std::vector<LayerEntry> entries;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    if (k > 0) entries.push_back(complete_entry(between));
    entries.push_back(dense_entry({names[k], widths[k], widths[k + 1]}));
  }
  return entries;
}

}  // namespace mixcert::io
