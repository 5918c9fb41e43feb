// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A table of results. Columns say what their numbers are: certified, estimated, the floor of an estimate, or
// printed in the paper; these never share a column. Every row says which commands, network and seed made it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mixcert::lab {

enum class ColumnKind {
  Label,      ///< what the row is about
  Certified,  ///< proven, rounded up when it is shown
  Estimate,   ///< from samples
  Floor,      ///< what zero looks like to an estimate
  Paper,      ///< printed in the paper
  Number,     ///< sizes, counts, ratios
  Seconds,    ///< measured time
  Remark,     ///< words
};

struct ResultColumn {
  std::string name;
  ColumnKind kind = ColumnKind::Number;
};

/// Nothing, a number, or words.
using ResultValue = std::variant<std::monostate, double, std::string>;

struct RowOrigin {
  std::vector<std::string> commands;  ///< that give these numbers
  std::string network;                ///< file; "" where there is none
  std::string sha256;                 ///< of it
  std::uint64_t seed = 0;
};

struct ResultRow {
  std::vector<ResultValue> values;  ///< as many as columns
  RowOrigin origin;
};

struct ResultTable {
  std::string name;  ///< of its file
  std::string title;
  std::vector<ResultColumn> columns;
  std::vector<ResultRow> rows;
  std::vector<std::string> notes;
};

/// NaN is nothing.
ResultValue number_or_nothing(double value);
/// Four digits, certified numbers rounded up; words as they are; "" for nothing.
std::string value_text(const ResultValue& value, ColumnKind kind);
/// "proven", "estimate", ..: the second line of a title.
std::string kind_text(ColumnKind kind);

/// All columns, then network, sha256, seed and commands; numbers with all their digits.
std::string table_csv(const ResultTable& table);
/// Title, table, notes and, below them, where each row comes from.
std::string table_markdown(const ResultTable& table);

}  // namespace mixcert::lab
