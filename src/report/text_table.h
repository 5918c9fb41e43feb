// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Plain-text tables with right-aligned columns of fixed width.
#pragma once

#include <string>
#include <vector>

namespace mixcert {

struct Column {
  std::string title;
  int width = 10;
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Title line and rule.
  [[nodiscard]] std::string header() const;
  /// One line; cells wider than their column push the rest to the right.
  [[nodiscard]] std::string row(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
};

/// Four significant digits; "-" for NaN.
std::string short_number(double value);
/// "3.1 ms", "2.4 s".
std::string short_time(double seconds);

}  // namespace mixcert
