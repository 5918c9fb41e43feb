// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Regression tables: NAME.csv with a header, features first and the target last, and
// NAME.splits.json, {"splits": [{"train": [...], "test": [...]}, ...]} with 0-based row numbers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/catalogue.h"
#include "data/dataset.h"
#include "mixcert/io/array.h"

namespace mixcert::lab {

struct RowSplit {
  std::vector<Index> train;
  std::vector<Index> test;
};

/// Throws FileError unless train and test of every split are disjoint and together all of `rows`.
std::vector<RowSplit> parse_splits(std::string_view text, const std::string& label, Index rows);

/// Features and target of the split's rows, standardised with the mean and the standard deviation
/// (divisor n) of its training rows; a column that is constant there gets scale 1.
Dataset split_table(const Array& table, const RowSplit& split);

/// Throws FileError, or InvalidArgument where there is no split of that number.
Dataset load_table(const CatalogueEntry& entry, const DataVariant& variant,
                   const std::filesystem::path& folder, Index split_index);

}  // namespace mixcert::lab
