// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading numeric CSV.
#include "io/formats/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "io/files/byte_source.h"
#include "io/files/file_error.h"

namespace mixcert {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Cell {
  bool is_number = false;
  double value = std::nan("");
};

/// Numbers that no double can hold count as numbers (of value NaN), so that a row of them
/// is refused rather than taken for a header.
Cell parse_cell(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  Cell cell;
  const char* const end = text.data() + text.size();
  const auto [last, status] = std::from_chars(text.data(), end, cell.value);
  cell.is_number = last == end && status != std::errc::invalid_argument;
  if (status != std::errc()) cell.value = std::nan("");
  return cell;
}

/// Calls `use(column, cell)` for each cell of a line, columns from 0.
template <class Use>
Index for_each_cell(std::string_view line, Use use) {
  Index column = 0;
  for (;;) {
    const std::size_t comma = line.find(',');
    use(column++, trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return column;
    line.remove_prefix(comma + 1);
  }
}

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& file) : rest_(text), file_(file) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  Array parse(Index most_cells) {
    io::reserve_values(array_.values, most_cells, file_);
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (trimmed(line).empty()) {
        require_only_empty_lines();
      } else if (line_ == 1 && is_header(line)) {
        columns_ = for_each_cell(line, [](Index, std::string_view) {});
      } else {
        parse_row(line);
      }
    }
    array_.shape = {rows_, columns_};
    if (rows_ == 0) io::bad_file(file_, "table", "at least one row of numbers", "none");
    return std::move(array_);
  }

 private:
  std::string_view next_line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_;
    return line;
  }

  void require_only_empty_lines() {
    if (rest_.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      rest_ = {};
    } else {
      io::bad_file(file_, "line " + std::to_string(line_), "numbers", "an empty line");
    }
  }

  static bool is_header(std::string_view line) {
    bool has_text = false;
    bool has_number = false;
    for_each_cell(line, [&](Index, std::string_view cell) {
      has_number = has_number || parse_cell(cell).is_number;
      has_text = has_text || !cell.empty();
    });
    return has_text && !has_number;
  }

  void parse_row(std::string_view line) {
    const Index columns = for_each_cell(line, [this](Index column, std::string_view cell) {
      const auto [is_number, value] = parse_cell(cell);
      if (!is_number || !std::isfinite(value)) {
        io::bad_file(file_, "line " + std::to_string(line_) + ", column " + std::to_string(column + 1),
                     "a finite number", cell.empty() ? "an empty cell" : io::in_quotes(cell));
      }
      array_.values.push_back(value);
    });
    if (columns_ == 0) columns_ = columns;
    if (columns != columns_) {
      io::bad_file(file_, "line " + std::to_string(line_), std::to_string(columns_) + " columns",
                   std::to_string(columns));
    }
    ++rows_;
  }

  std::string_view rest_;
  const std::string& file_;
  Array array_;
  Index line_ = 0;
  Index rows_ = 0;
  Index columns_ = 0;
};

Array read_csv_source(io::ByteSource& source, const ReadLimits& limits) {
  io::check_memory(source.label(), "the text", static_cast<double>(source.size()), limits.max_bytes);
  std::string text(source.size(), '\0');
  source.read(0, text.data(), text.size(), "text");
  const auto separators =
      std::count_if(text.begin(), text.end(), [](char c) { return c == ',' || c == '\n'; });
  const Index cells = static_cast<Index>(separators) + 1;
  io::check_memory(source.label(), "a table of " + std::to_string(cells) + " cells",
                   8.0 * static_cast<double>(cells) + static_cast<double>(text.size()), limits.max_bytes);
  return CsvParser(text, source.label()).parse(cells);
}

}  // namespace

Array read_csv(const std::filesystem::path& path, const ReadLimits& limits) {
  io::FileSource source(path);
  return read_csv_source(source, limits);
}

Array parse_csv(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits) {
  io::MemorySource source(bytes, label);
  return read_csv_source(source, limits);
}

}  // namespace mixcert
