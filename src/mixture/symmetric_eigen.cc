// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigen's solver: Householder tridiagonalisation and implicit QR.
#include "mixture/symmetric_eigen.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace mixcert {

SymmetricEigen symmetric_eigen(ConstMatrixRef matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

bool is_semidefinite(ConstMatrixRef matrix, double tolerance) {
  if (matrix.isZero(0.0)) return true;
  const double scale = matrix.diagonal().maxCoeff();
  if (!(scale > 0.0)) return false;
  Matrix shifted = matrix / scale;
  shifted.diagonal().array() += tolerance;
  // Eigen reports success for NaN.
  return shifted.allFinite() && shifted.llt().info() == Eigen::Success;
}

// Eigen's solvers: bidiagonalisation, then divide and conquer; and Jacobi rotations.

SingularValues singular_values(const Matrix& matrix) {
  const Eigen::BDCSVD<Matrix> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

double trace_norm(const Matrix& matrix) { return matrix.jacobiSvd().singularValues().sum(); }

}  // namespace mixcert
