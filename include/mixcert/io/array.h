// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Arrays as files store them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

// An array of doubles of any rank, as files hold it, and the limit that every reader
// checks before it allocates. The files themselves may hold other element types; they
// are converted while they are read.

/// What a reader may allocate. A file that needs more is refused with ResourceError,
/// which says how much it needs, before anything is allocated.
struct ReadLimits {
  std::uint64_t max_bytes = std::uint64_t{8} << 30U;  ///< for the values of one file
};

struct Array {
  std::vector<Index> shape;
  std::vector<double> values;  ///< C order: the last index varies fastest

  [[nodiscard]] Index rank() const { return static_cast<Index>(shape.size()); }
  [[nodiscard]] Index size() const { return static_cast<Index>(values.size()); }
};

using ConstMatrixView =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// View of an array of rank 2; valid as long as the array. Throws InvalidArgument for
/// other ranks.
ConstMatrixView as_matrix(const Array& array);

/// Copies in C order: rank 2 for a matrix, rank 1 for a vector.
Array to_array(ConstMatrixRef matrix);
Array vector_to_array(ConstVectorRef vector);

// A dictionary of arrays as other libraries save their weights: a state dict, an archive of arrays. Some
// files keep the order in which the entries were made, which is the order of the layers; others sort them.

struct NamedArrays {
  std::vector<std::pair<std::string, Array>> entries;
  bool keeps_order = false;  ///< in the order in which the dictionary was made

  /// Null where there is none.
  [[nodiscard]] const Array* find(const std::string& name) const {
    for (const auto& [key, array] : entries) {
      if (key == name) return &array;
    }
    return nullptr;
  }
};

}  // namespace mixcert
