// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Conversions between arrays and Eigen.
#include "mixcert/io/array.h"

#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert {

ConstMatrixView as_matrix(const Array& array) {
  require(array.rank() == 2,
          "as_matrix: expected an array of rank 2, got shape " + io::shape_text(array.shape));
  return {array.values.data(), array.shape[0], array.shape[1]};
}

Array to_array(ConstMatrixRef matrix) {
  Array array{{matrix.rows(), matrix.cols()}, std::vector<double>(static_cast<std::size_t>(matrix.size()))};
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      array.values.data(), matrix.rows(), matrix.cols()) = matrix;
  return array;
}

Array vector_to_array(ConstVectorRef vector) {
  return {{vector.size()}, std::vector<double>(vector.data(), vector.data() + vector.size())};
}

}  // namespace mixcert
