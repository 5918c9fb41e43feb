// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Columns and cells of the table of layers.
#include "certify/layer_table.h"

#include <algorithm>
#include <utility>

#include "core/text_table.h"

namespace mixcert {

std::string layer_table(const std::vector<LayerRow>& rows, const std::string& how) {
  if (rows.empty()) return "";
  const bool has_neurons =
      std::any_of(rows.begin(), rows.end(), [](const LayerRow& row) { return !row.neurons.empty(); });
  std::size_t longest = 0;
  for (const LayerRow& row : rows) longest = std::max(longest, row.theorems.size());
  // Files of results do not hold the theorems.
  const bool has_theorems = longest > 0;
  std::vector<Column> columns = {{"layer", 5},  {"neurons", 7},      {"components", 10},
                                 {"points", 7}, {"compression", 11}, {"local", 10},
                                 {"gain", 9},   {"share", 5},        {"metric", 16}};
  if (has_theorems) columns.push_back({"bounded by", std::max(10, static_cast<int>(longest))});
  if (!has_neurons) columns.erase(columns.begin() + 1);
  const TextTable table(std::move(columns));
  std::string text = "where the bound comes from (" + how + ")\n" + table.header();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const LayerRow& row = rows[k];
    std::vector<std::string> cells = {std::to_string(k + 1),
                                      row.neurons,
                                      std::to_string(row.components),
                                      std::to_string(row.points),
                                      short_bound(row.compression),
                                      short_bound(row.local),
                                      short_number(row.gain),
                                      decimals(100.0 * row.share, 0) + " %",
                                      row.metric,
                                      row.theorems};
    if (!has_theorems) cells.pop_back();
    if (!has_neurons) cells.erase(cells.begin() + 1);
    text += table.row(cells);
  }
  return text;
}

}  // namespace mixcert
