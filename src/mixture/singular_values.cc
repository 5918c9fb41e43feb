// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigen's solvers: bidiagonalisation, then divide and conquer; and Jacobi rotations.
#include "mixture/singular_values.h"

#include <Eigen/SVD>

namespace mixcert {

SingularValues singular_values(const Matrix& matrix) {
  const Eigen::BDCSVD<Matrix> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

double trace_norm(const Matrix& matrix) { return matrix.jacobiSvd().singularValues().sum(); }

}  // namespace mixcert
