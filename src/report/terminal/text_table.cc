// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Plain-text tables and short number forms.
#include "report/terminal/text_table.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace mixcert {

std::string TextTable::header() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const std::string line = row(titles);
  return line + std::string(line.size() - 1, '-') + "\n";
}

std::string TextTable::row(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    line += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cells[i], columns_[i].width);
  }
  return line + "\n";
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  return fmt::format("{:.4g}", value);
}

std::string outward_number(double value, int digits, int direction) {
  std::string nearest = fmt::format("{:.{}g}", value, digits);
  if (!std::isfinite(value) || value == 0.0) return nearest;
  const double printed = std::strtod(nearest.c_str(), nullptr);
  if (direction < 0 ? printed <= value : printed >= value) return nearest;
  const double last_digit = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1.0 - digits);
  return fmt::format("{:.{}g}", printed + direction * last_digit, digits);
}

std::string short_bound(double value) { return std::isnan(value) ? "-" : outward_number(value, 4, +1); }

std::string short_lower_bound(double value) { return std::isnan(value) ? "-" : outward_number(value, 4, -1); }

std::string short_percent(double share) { return fmt::format("{:.4g} %", 100.0 * share); }

std::string short_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", 1e6 * seconds);
  if (seconds < 1.0) return fmt::format("{:.1f} ms", 1e3 * seconds);
  return fmt::format("{:.1f} s", seconds);
}

std::string counted(Index count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace mixcert
