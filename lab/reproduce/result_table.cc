// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tables as text.
#include "reproduce/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text_table.h"

namespace mixcert::lab {
namespace {

/// Cells with commas, quotes or line ends are quoted, RFC 4180.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_value(const ResultValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* words = std::get_if<std::string>(&value)) return csv_cell(*words);
  return "";
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

/// Pipes would end a cell.
std::string markdown_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string row_label(const ResultTable& table, const ResultRow& row) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].kind == ColumnKind::Label)
      words.push_back(value_text(row.values[i], ColumnKind::Label));
  }
  return joined(words, " ");
}

std::string origins_markdown(const ResultTable& table) {
  std::string text;
  std::string last;
  for (const ResultRow& row : table.rows) {
    if (row.origin.commands.empty()) continue;
    const std::string where = joined(row.origin.commands, "; ");
    if (where == last) continue;
    last = where;
    text += fmt::format("- {}: `{}`{}, seed {}\n", row_label(table, row), where,
                        row.origin.sha256.empty() ? "" : ", network " + row.origin.sha256.substr(0, 12),
                        row.origin.seed);
  }
  return text.empty() ? text : "\nWhere the rows come from:\n\n" + text;
}

}  // namespace

ResultValue number_or_nothing(double value) { return std::isnan(value) ? ResultValue() : ResultValue(value); }

std::string value_text(const ResultValue& value, ColumnKind kind) {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return "";
  if (kind == ColumnKind::Certified) return short_bound(*number);
  if (kind == ColumnKind::Paper) return fmt::format("{}", *number);
  if (kind == ColumnKind::Seconds) return fmt::format("{:.3g}", *number);
  return short_number(*number);
}

std::string kind_text(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::Certified:
      return "proven";
    case ColumnKind::Estimate:
      return "estimate";
    case ColumnKind::Floor:
      return "floor of the estimate";
    case ColumnKind::Paper:
      return "the paper's";
    case ColumnKind::Seconds:
      return "seconds";
    default:
      return "";
  }
}

std::string table_csv(const ResultTable& table) {
  std::string text;
  for (const ResultColumn& column : table.columns) {
    const std::string kind = kind_text(column.kind);
    text += csv_cell(column.name + (kind.empty() ? "" : " (" + kind + ")")) + ",";
  }
  text += "network,sha256,seed,commands\n";
  for (const ResultRow& row : table.rows) {
    for (const ResultValue& value : row.values) text += csv_value(value) + ",";
    text += fmt::format("{},{},{},{}\n", csv_cell(row.origin.network), row.origin.sha256, row.origin.seed,
                        csv_cell(joined(row.origin.commands, "; ")));
  }
  return text;
}

std::string table_markdown(const ResultTable& table) {
  std::string text = "## " + table.title + "\n\n|";
  for (const ResultColumn& column : table.columns) {
    const std::string kind = kind_text(column.kind);
    text += " " + markdown_cell(column.name) + (kind.empty() ? "" : " (" + kind + ")") + " |";
  }
  text += "\n|";
  for (const ResultColumn& column : table.columns) {
    const bool words = column.kind == ColumnKind::Label || column.kind == ColumnKind::Remark;
    text += words ? " --- |" : " ---: |";
  }
  text += "\n";
  for (const ResultRow& row : table.rows) {
    text += "|";
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      text += " " + markdown_cell(value_text(row.values[i], table.columns[i].kind)) + " |";
    }
    text += "\n";
  }
  if (!table.notes.empty()) text += "\n";
  for (const std::string& note : table.notes) text += "- " + note + "\n";
  return text + origins_markdown(table);
}

}  // namespace mixcert::lab
