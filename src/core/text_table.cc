// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Plain-text tables and short number forms. Numbers are written by std::to_chars: the core library has no
// formatting library, and no locale changes what is printed.
#include "core/text_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace mixcert {
namespace {

std::string with_precision(double value, std::chars_format format, int precision) {
  std::array<char, 512> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return status == std::errc() ? std::string(text.data(), end) : std::string("?");
}

/// Of UTF-8: bytes that continue a character have no width.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string TextTable::header() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const std::string line = row(titles);
  return line + std::string(line.size() - 1, '-') + "\n";
}

std::string TextTable::row(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    const std::size_t width = width_of(cells[i]), column = static_cast<std::size_t>(columns_[i].width);
    line += (i == 0 ? "" : "  ") + std::string(column > width ? column - width : 0, ' ') + cells[i];
  }
  return line + "\n";
}

std::string significant(double value, int digits) {
  return with_precision(value, std::chars_format::general, digits);
}

std::string decimals(double value, int digits) {
  return with_precision(value, std::chars_format::fixed, digits);
}

std::string short_number(double value) { return std::isnan(value) ? "-" : significant(value, 4); }

std::string outward_number(double value, int digits, int direction) {
  std::string nearest = significant(value, digits);
  if (!std::isfinite(value) || value == 0.0) return nearest;
  const double printed = std::strtod(nearest.c_str(), nullptr);
  if (direction < 0 ? printed <= value : printed >= value) return nearest;
  const double last_digit = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1.0 - digits);
  return significant(printed + direction * last_digit, digits);
}

std::string short_bound(double value) { return std::isnan(value) ? "-" : outward_number(value, 4, +1); }

std::string short_lower_bound(double value) { return std::isnan(value) ? "-" : outward_number(value, 4, -1); }

std::string short_percent(double share) { return significant(100.0 * share, 4) + " %"; }

std::string short_time(double seconds) {
  if (seconds < 1e-3) return decimals(1e6 * seconds, 0) + " us";
  if (seconds < 1.0) return decimals(1e3 * seconds, 1) + " ms";
  return decimals(seconds, 1) + " s";
}

std::string counted(Index count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace mixcert
