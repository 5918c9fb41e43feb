// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Cholesky costs a tenth of the eigendecomposition and succeeds for regular covariances.
// A pivoted LDL' would do for singular ones, but its error there is sqrt(roundoff), that
// of the eigendecomposition roundoff.
#include "statistics/simulate/psd_factor.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {

Matrix psd_factor(ConstMatrixRef matrix) {
  if (matrix.rows() == 1) return Matrix::Constant(1, 1, std::sqrt(positive_part(matrix(0, 0))));
  const Eigen::LLT<Matrix> cholesky(matrix);
  if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  return eigen.vectors * positive_part(eigen.values).cwiseSqrt().asDiagonal();
}

}  // namespace mixcert
