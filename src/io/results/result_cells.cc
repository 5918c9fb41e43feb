// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The cells of a box of inputs in result archives: `cell_lower` and `cell_upper`, [inputs, features], both or
// none.
#include <algorithm>
#include <cmath>

#include "io/files/file_error.h"
#include "io/results/result_parts.h"

namespace mixcert::io {

void ResultCells::add(const Result& result) {
  if (result.cell) cells_.push_back(*result.cell);
}

void ResultCells::write_to(NpzWriter& archive) const {
  if (cells_.empty()) return;
  const auto rows = static_cast<Index>(cells_.size());
  const auto add = [&](const char* name, Vector InputBox::*end) {
    archive.add(name, {rows, (cells_.front().*end).size()}, [this, end](Index row, std::span<double> block) {
      const Vector& values = cells_[static_cast<std::size_t>(row)].*end;
      std::copy(values.begin(), values.end(), block.begin());
    });
  };
  add("cell_lower", &InputBox::lower);
  add("cell_upper", &InputBox::upper);
}

namespace {

/// The row of an array of shape `[rows, features]`.
Vector row_of(const Array& array, Index row) {
  const Index features = array.shape[1];
  return Eigen::Map<const Vector>(array.values.data() + row * features, features);
}

}  // namespace

void read_cells(NpzReader& reader, const std::string& file, const Matrix& inputs,
                std::vector<StoredResult>& results) {
  if (!reader.contains("cell_lower")) return;
  const Array lower = reader.read("cell_lower"), upper = reader.read("cell_upper");
  const auto rows = static_cast<Index>(results.size());
  const std::vector<Index> shape = {rows, inputs.rows()};
  if (inputs.cols() != rows || lower.shape != shape || upper.shape != shape)
    bad_file(file, "'cell_lower' and 'cell_upper'", "the shape of 'inputs', " + shape_text(shape),
             shape_text(lower.shape) + " and " + shape_text(upper.shape));
  for (Index row = 0; row < rows; ++row) {
    InputBox cell{row_of(lower, row), row_of(upper, row)};
    const auto centre = inputs.col(row).array();
    const bool good = cell.lower.allFinite() && cell.upper.allFinite() &&
                      (cell.lower.array() <= centre).all() && (centre <= cell.upper.array()).all();
    if (!good)
      bad_file(file, "'cell_lower' and 'cell_upper' of input " + std::to_string(row),
               "finite ends with the input between them", "others");
    results[static_cast<std::size_t>(row)].cell = std::move(cell);
  }
}

}  // namespace mixcert::io
