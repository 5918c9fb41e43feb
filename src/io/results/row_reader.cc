// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading what a result archive says besides its mixtures. NaN stands for nothing; whatever else is no
// number of its kind is refused.
#include <cmath>

#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "io/results/result_parts.h"
#include "mixcert/core/option_table.h"

namespace mixcert::io {
namespace {

constexpr Index kMaxRunBytes = Index{16} << 20U;
constexpr Index kMaxLayers = 10000;
/// Integers up to here are doubles.
constexpr double kMaxCode = 0x1.0p53;

std::string in_file(const std::string& name) { return "'" + name + "'"; }

bool is_code(double value) { return value >= 0.0 && value <= kMaxCode && value == std::floor(value); }

/// The bytes of an array as text.
std::string read_text(NpzReader& reader, const std::string& name, const std::string& file) {
  const Array array = reader.read(name);
  if (array.rank() != 1 || array.size() > kMaxRunBytes) {
    bad_file(file, in_file(name), "at most " + std::to_string(kMaxRunBytes) + " bytes of text",
             "shape " + shape_text(array.shape));
  }
  std::string text;
  text.reserve(array.values.size());
  for (const double value : array.values) {
    if (!is_code(value) || value > 255.0) bad_file(file, in_file(name), "bytes", format_number(value));
    text += static_cast<char>(static_cast<unsigned char>(value));
  }
  return text;
}

Array read_column(NpzReader& reader, const std::string& file, const RowColumn& column, Index rows) {
  Array array = reader.read(column.name);
  if (array.shape != std::vector<Index>{rows}) {
    bad_file(file, in_file(column.name), "shape " + shape_text({rows}), shape_text(array.shape));
  }
  for (Index i = 0; i < rows; ++i) {
    const double value = array.values[static_cast<std::size_t>(i)];
    const bool good = column.kind == RowKind::Code ? is_code(value) : value >= 0.0 && std::isfinite(value);
    if (good || std::isnan(value)) continue;
    bad_file(file, in_file(column.name),
             column.kind == RowKind::Code ? "integers >= 0" : "bounds >= 0, or nan where there is none",
             format_number(value) + " at index " + shape_text({i}));
  }
  return array;
}

/// Layers of one row: those before the padding.
void add_layers(const std::array<Array, kLayerColumns>& columns, Index row, Index most,
                const std::string& file, StoredResult& result) {
  for (Index k = 0; k < most; ++k) {
    const auto place = static_cast<std::size_t>(row * most + k);
    const bool padding = std::isnan(columns[kComponentsColumn].values[place]);
    if (!padding && static_cast<Index>(result.layers.size()) < k) {
      bad_file(file, in_file(layer_columns()[kComponentsColumn].name), "nan behind a row's last layer only",
               "a number at index " + shape_text({row, k}));
    }
    if (padding) continue;
    LayerReport& layer = result.layers.emplace_back();
    layer.layer = k + 1;
    for (std::size_t i = 0; i < kLayerColumns; ++i) {
      const double value = columns[i].values[place];
      const bool count = i >= kComponentsColumn;
      if (count ? !is_code(value) : value < 0.0 || std::isinf(value)) {
        bad_file(file, in_file(layer_columns()[i].name), count ? "integers >= 0" : "numbers >= 0, or nan",
                 format_number(value) + " at index " + shape_text({row, k}));
      }
      layer_columns()[i].set(layer, value);
    }
  }
}

void read_layers(NpzReader& reader, const std::string& file, std::vector<StoredResult>& results) {
  const Index rows = static_cast<Index>(results.size());
  std::array<Array, kLayerColumns> columns;
  for (std::size_t i = 0; i < kLayerColumns; ++i) {
    const std::string name = layer_columns()[i].name;
    columns[i] = reader.read(name);
    const std::vector<Index>& shape = columns[i].shape;
    if (shape.size() != 2 || shape[0] != rows || shape[1] > kMaxLayers || shape != columns[0].shape) {
      bad_file(file, in_file(name), "shape [" + std::to_string(rows) + ", layers], the same for all",
               shape_text(shape));
    }
  }
  for (Index row = 0; row < rows; ++row) {
    add_layers(columns, row, columns[0].shape[1], file, results[static_cast<std::size_t>(row)]);
  }
}

}  // namespace

RunRecord read_run_record(NpzReader& reader, const std::string& file, StoredChoices& choices) {
  const nlohmann::json json = parse_strict_json(read_text(reader, "run", file), file, "'run'");
  choices = choices_from_json(json, file);
  return run_from_json(json, file);
}

void read_rows(NpzReader& reader, const std::string& file, const StoredChoices& choices,
               std::vector<StoredResult>& results) {
  const Index rows = static_cast<Index>(results.size());
  for (const RowColumn& column : row_columns()) {
    const std::string name = column.name;
    if (name != "w2_bound" && name != "relative_w2_bound" && !reader.contains(name)) continue;
    const Array array = read_column(reader, file, column, rows);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double value = array.values[i];
      const bool is_bound = column.kind == RowKind::Nonnegative && column.group == RowGroup::All;
      if (is_bound || !std::isnan(value)) column.set(results[i], value, choices);
    }
  }
  if (reader.contains(layer_columns()[0].name)) read_layers(reader, file, results);
}

}  // namespace mixcert::io
