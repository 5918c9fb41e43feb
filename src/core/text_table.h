// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Plain-text tables with right-aligned columns of fixed width, and short forms of numbers.
#pragma once

#include <string>
#include <vector>

#include "mixcert/core/types.h"

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

/// So many significant digits, as "%.*g" prints them, and so many behind the point, as "%.*f" does.
std::string significant(double value, int digits);
std::string decimals(double value, int digits);
/// Four significant digits; "-" for NaN.
std::string short_number(double value);
/// The same, rounded up: what is printed is a bound as well.
std::string short_bound(double value);
/// Rounded down: the lower end of a proven range.
std::string short_lower_bound(double value);
/// `digits` significant digits, no less than `value` (direction +1) or no more (-1).
std::string outward_number(double value, int digits, int direction);
/// "95 %".
std::string short_percent(double share);
/// "3.1 ms", "2.4 s".
std::string short_time(double seconds);
/// "1 input", "2 inputs".
std::string counted(Index count, const std::string& noun);

}  // namespace mixcert
