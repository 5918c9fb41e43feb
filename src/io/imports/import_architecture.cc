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

void collect_slots(const std::vector<LayerEntry>& entries, std::vector<LayerSlot>& slots,
                   const ImportSource& source) {
  for (const LayerEntry& entry : entries) {
    if (const auto* dense = std::get_if<DenseEntry>(&entry.variant())) {
      slots.push_back({dense->name, {dense->outputs, dense->inputs}});
    } else if (const auto* conv = std::get_if<Conv2dSpec>(&entry.variant())) {
      const Size2d& kernel = conv->window.kernel;
      slots.push_back({conv->name, {conv->out, conv->in / conv->groups, kernel.height, kernel.width}});
    } else if (const auto* block = std::get_if<ResidualEntry>(&entry.variant())) {
      collect_slots(block->layers, slots, source);
    } else if (std::holds_alternative<MixtureEntry>(entry.variant())) {
      bad_file(source.label, "architecture", "layers other than mixtures", "a mixture");
    }
  }
}

std::vector<LayerEntry> chain(const std::vector<Index>& widths, const std::vector<std::string>& names,
                              const std::string& activation) {
  const ActivationSpec between{Activation(parse_activation_function(activation))};
  std::vector<LayerEntry> entries;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    if (k > 0) entries.emplace_back(between);
    entries.emplace_back(DenseEntry{names[k], widths[k], widths[k + 1], {}});
  }
  return entries;
}

}  // namespace mixcert::io
