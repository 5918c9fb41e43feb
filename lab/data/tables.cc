// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading and standardising tables.
#include "data/tables.h"

#include <cmath>
#include <span>

#include "data/contents.h"
#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "io/formats/csv.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

using nlohmann::json;

/// Reads row numbers and remembers in `seen` which occurred, so that none occurs twice in a split.
std::vector<Index> parse_rows(const json& split, const std::string& key, std::vector<char>& seen,
                              const std::string& label, const std::string& field) {
  const auto found = split.find(key);
  const std::string name = field + "." + key;
  if (found == split.end() || !found->is_array()) io::bad_file(label, name, "a list of row numbers", "none");
  std::vector<Index> rows;
  for (const json& value : *found) {
    const std::string place = name + "[" + std::to_string(rows.size()) + "]";
    const Index row = io::json_size(value, label, place);
    if (row >= static_cast<Index>(seen.size())) {
      io::bad_file(label, place, "a row below " + std::to_string(seen.size()), std::to_string(row));
    }
    if (seen[static_cast<std::size_t>(row)] != 0) {
      io::bad_file(label, place, "each row once", "row " + std::to_string(row) + " again");
    }
    seen[static_cast<std::size_t>(row)] = 1;
    rows.push_back(row);
  }
  if (rows.empty()) io::bad_file(label, name, "at least one row", "none");
  return rows;
}

RowSplit parse_split(const json& value, Index rows, const std::string& label, const std::string& field) {
  io::require_keys(value, {"train", "test"}, label, field);
  std::vector<char> seen(static_cast<std::size_t>(rows), 0);
  RowSplit split;
  split.train = parse_rows(value, "train", seen, label, field);
  split.test = parse_rows(value, "test", seen, label, field);
  const auto covered = static_cast<Index>(split.train.size() + split.test.size());
  if (covered != rows) {
    io::bad_file(label, field, "all " + std::to_string(rows) + " rows", std::to_string(covered));
  }
  return split;
}

Matrix take_rows(ConstMatrixView table, const std::vector<Index>& rows) {
  Matrix taken(static_cast<Index>(rows.size()), table.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) taken.row(static_cast<Index>(i)) = table.row(rows[i]);
  return taken;
}

/// Standard deviations with divisor n; 1 for a column whose values are all equal, which rounding
/// in the mean would give a tiny one.
Vector column_scales(const Matrix& rows, const Vector& mean) {
  Vector scales(rows.cols());
  for (Index j = 0; j < rows.cols(); ++j) {
    const bool constant = rows.col(j).minCoeff() == rows.col(j).maxCoeff();
    const double variance = (rows.col(j).array() - mean(j)).square().mean();
    scales(j) = constant || !(variance > 0.0) ? 1.0 : std::sqrt(variance);
  }
  return scales;
}

Examples standardised(const Matrix& rows, const Vector& mean, const Vector& scale) {
  const Matrix values = (rows.rowwise() - mean.transpose()).array().rowwise() / scale.transpose().array();
  const Index features = rows.cols() - 1;
  return {values.leftCols(features).cast<float>(), values.rightCols(1).cast<float>(), {}};
}

void check_shape(const Array& table, Index rows, Index columns, const std::string& label) {
  const std::vector<Index> expected = {rows, columns};
  if (table.shape != expected) {
    io::bad_file(label, "table", io::shape_text(expected), io::shape_text(table.shape));
  }
}

}  // namespace

std::vector<RowSplit> parse_splits(std::string_view text, const std::string& label, Index rows) {
  const json document = io::parse_strict_json(text, label, "splits file");
  io::require_keys(document, {"splits"}, label, "splits file");
  const auto list = document.find("splits");
  if (list == document.end() || !list->is_array() || list->empty()) {
    io::bad_file(label, "splits", "a list of at least one split", "none");
  }
  std::vector<RowSplit> splits;
  for (const json& value : *list) {
    splits.push_back(parse_split(value, rows, label, "splits[" + std::to_string(splits.size()) + "]"));
  }
  return splits;
}

Dataset split_table(const Array& table, const RowSplit& split) {
  require(table.rank() == 2 && table.shape[1] >= 2, "split_table: expected features and a target");
  const Matrix train = take_rows(as_matrix(table), split.train);
  const Matrix test = take_rows(as_matrix(table), split.test);
  const Vector mean = train.colwise().mean();
  const Vector scale = column_scales(train, mean);
  const Index features = train.cols() - 1;
  Dataset dataset;
  dataset.task = Task::Regression;
  dataset.train = standardised(train, mean, scale);
  dataset.test = standardised(test, mean, scale);
  dataset.standardisation = {mean.head(features), scale.head(features), mean.tail(1), scale.tail(1)};
  return dataset;
}

Dataset load_table(const CatalogueEntry& entry, const DataVariant& variant,
                   const std::filesystem::path& folder, Index split_index) {
  const DataFile& rows_file = variant.files.at(0);
  const DataFile& splits_file = variant.files.at(1);
  const std::string rows_label = (folder / rows_file.name).string();
  const std::string splits_label = (folder / splits_file.name).string();
  const std::string text = load_contents(folder, rows_file);
  const Array table = parse_csv(std::as_bytes(std::span(text)), rows_label);
  check_shape(table, variant.train_size + variant.test_size, entry.features + 1, rows_label);
  const std::vector<RowSplit> splits =
      parse_splits(load_contents(folder, splits_file), splits_label, table.shape[0]);
  require(split_index >= 0 && split_index < static_cast<Index>(splits.size()),
          "split index of " + entry.name + ": expected 0.." + std::to_string(splits.size() - 1) + ", got " +
              std::to_string(split_index));
  const RowSplit& split = splits[static_cast<std::size_t>(split_index)];
  if (static_cast<Index>(split.train.size()) != variant.train_size) {
    io::bad_file(splits_label, "splits[" + std::to_string(split_index) + "].train",
                 std::to_string(variant.train_size) + " rows", std::to_string(split.train.size()));
  }
  return split_table(table, split);
}

}  // namespace mixcert::lab
