// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The numbers of a result beside its mixture: one per row (bounds, method, statistics) or one per row and
// hidden layer. One table each names the arrays for writer and reader.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "io/files/spill_file.h"
#include "io/formats/npz.h"
#include "io/results/run_json.h"
#include "mixcert/io/result_file.h"

namespace mixcert::io {

/// What an array of rows may hold besides NaN for nothing.
enum class RowKind { Nonnegative, Code };

struct RowColumn {
  const char* name;
  RowKind kind;
  bool statistics;  ///< written where results have statistics
  double (*get)(const Result&);
  /// Sets the field from a checked number that is not NaN.
  void (*set)(StoredResult&, double, const StoredChoices&);
};
const std::vector<RowColumn>& row_columns();

/// Layers of one row: arrays [rows, layers], NaN where a row has fewer layers.
struct LayerColumn {
  const char* name;
  double (*get)(const LayerReport&);
  void (*set)(LayerReport&, double);
};
inline constexpr std::size_t kLayerColumns = 5;
const std::array<LayerColumn, kLayerColumns>& layer_columns();
/// Place among them of the one that is NaN in padding only.
inline constexpr std::size_t kComponentsColumn = 3;

class ResultRows {
 public:
  explicit ResultRows(const std::filesystem::path& path) : values_(row_columns().size()), layers_(path) {}
  void add(const Result& result);
  /// Reads from this object until the archive is written.
  void write_to(NpzWriter& archive);

 private:
  void write_layers(NpzWriter& archive, Index rows);

  std::vector<std::vector<double>> values_;  // one list per column
  bool has_statistics_ = false;
  SpillFile layers_;
  std::vector<Index> first_layer_ = {0};
};

}  // namespace mixcert::io
