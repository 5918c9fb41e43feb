// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigendecomposition by its definition, and the semidefiniteness check at its edges.
#include "mixcert/mixture/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_laws.h"

namespace mixcert {
namespace {

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

}  // namespace
}  // namespace mixcert
