// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Images with labels, from two formats.
// IDX: two zero bytes, element type 8 (unsigned byte; others are refused), rank, one big-endian
// 32-bit size per axis, then the elements, the last axis varying fastest.
// CIFAR binary: records of one label byte and one byte per feature, planes one after the other.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/catalogue.h"
#include "data/dataset.h"

namespace mixcert::lab {

struct IdxArray {
  std::vector<Index> shape;
  std::string_view elements;  ///< into the bytes that were parsed
};

/// Rank 1 to 4. Throws FileError where sizes and length disagree.
IdxArray parse_idx(std::string_view bytes, const std::string& label);

/// Appends the records to `labels` and, byte by byte, to `pixels`. Throws FileError for a broken
/// last record or a label that is no class.
void parse_cifar(std::string_view bytes, const std::string& label, Index features, Index classes,
                 std::vector<int>& labels, std::string& pixels);

/// Throws FileError naming file and field.
Dataset load_images(const CatalogueEntry& entry, const DataVariant& variant,
                    const std::filesystem::path& folder);

}  // namespace mixcert::lab
