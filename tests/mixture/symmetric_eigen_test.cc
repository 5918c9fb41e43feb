// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigendecomposition and singular values by their definitions, and the semidefiniteness check at its edges.
#include "mixture/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_laws.h"

namespace mixcert {
namespace symmetric_eigen_test {

using testing::random_matrix;

TEST(SymmetricEigen, RebuildsTheMatrix) {
  Generator generator = make_generator(31, Stream::Example);
  for (const Index size : {1, 2, 7, 40}) {
    const Matrix half = random_matrix(generator, size, size);
    const Matrix matrix = half + half.transpose();
    const SymmetricEigen eigen = symmetric_eigen(matrix);
    const Matrix rebuilt = eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose();
    EXPECT_LE((rebuilt - matrix).norm(), 1e-13 * matrix.norm());
    EXPECT_LE((eigen.vectors.transpose() * eigen.vectors - Matrix::Identity(size, size)).norm(),
              1e-13 * static_cast<double>(size));
    for (Index i = 1; i < size; ++i) EXPECT_LE(eigen.values(i - 1), eigen.values(i));
  }
}

TEST(SingularValues, RebuildTheMatrix) {
  Generator generator = make_generator(32, Stream::Example);
  for (const Index rows : {1, 2, 7, 40}) {
    for (const Index columns : {rows, rows + 3}) {
      const Matrix matrix = random_matrix(generator, rows, columns);
      const SingularValues svd = singular_values(matrix);
      const Matrix rebuilt = svd.left * svd.values.asDiagonal() * svd.right.leftCols(rows).transpose();
      EXPECT_LE((rebuilt - matrix).norm(), 1e-13 * matrix.norm());
      for (const Matrix& q : {svd.left, svd.right}) {
        EXPECT_LE((q.transpose() * q - Matrix::Identity(q.cols(), q.cols())).norm(),
                  1e-13 * static_cast<double>(q.cols()));
      }
      for (Index i = 1; i < rows; ++i) EXPECT_GE(svd.values(i - 1), svd.values(i));
      EXPECT_GE(svd.values(rows - 1), 0.0);
      EXPECT_NEAR(trace_norm(matrix), svd.values.sum(), 1e-13 * svd.values.sum());
    }
  }
}

Matrix with_eigenvalue(double smallest) {
  Matrix matrix(2, 2);
  matrix << 1.0 + smallest, 1.0 - smallest, 1.0 - smallest, 1.0 + smallest;
  return 0.5 * matrix;  // eigenvalues 1 and `smallest`
}

TEST(IsSemidefinite, AllowsTheToleranceAndNoMore) {
  EXPECT_TRUE(is_semidefinite(Matrix::Zero(3, 3), 0.0));
  EXPECT_TRUE(is_semidefinite(with_eigenvalue(0.5), 0.0));
  EXPECT_TRUE(is_semidefinite(with_eigenvalue(0.0), 1e-12));
  EXPECT_TRUE(is_semidefinite(with_eigenvalue(-4e-10), 1e-9));
  EXPECT_FALSE(is_semidefinite(with_eigenvalue(-6e-10), 1e-9));
  EXPECT_FALSE(is_semidefinite(-Matrix::Identity(2, 2), 1e-9));
}

TEST(IsSemidefinite, DoesNotDependOnTheScale) {
  for (const double scale : {1e-300, 1e-20, 1e150}) {
    EXPECT_TRUE(is_semidefinite(scale * with_eigenvalue(-4e-10), 1e-9)) << scale;
    EXPECT_FALSE(is_semidefinite(scale * with_eigenvalue(-6e-10), 1e-9)) << scale;
  }
}

TEST(IsSemidefinite, RefusesWhatIsNotANumber) {
  Matrix matrix = Matrix::Identity(2, 2);
  matrix(1, 1) = NAN;
  EXPECT_FALSE(is_semidefinite(matrix, 1e-9));
  matrix(1, 1) = INFINITY;
  EXPECT_FALSE(is_semidefinite(matrix, 1e-9));
}

}  // namespace symmetric_eigen_test
}  // namespace mixcert
