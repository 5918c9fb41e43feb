// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Plain-text tables and short number forms.
#include "report/text_table.h"

#include <fmt/format.h>

#include <cmath>

namespace mixcert {

std::string TextTable::header() const {
  std::vector<std::string> titles;
  std::size_t width = 0;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    width += static_cast<std::size_t>(column.width) + 2;
  }
  return row(titles) + std::string(width, '-') + "\n";
}

std::string TextTable::row(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    line += fmt::format("  {:>{}}", cells[i], columns_[i].width);
  }
  return line + "\n";
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  return fmt::format("{:.4g}", value);
}

std::string short_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", 1e6 * seconds);
  if (seconds < 1.0) return fmt::format("{:.1f} ms", 1e3 * seconds);
  return fmt::format("{:.1f} s", seconds);
}

}  // namespace mixcert
