// Licensed under the Apache License, Version 2.0; see LICENSE.
#include <gtest/gtest.h>

#include "statistics/simulate/normal_source.h"
#include "support/random_laws.h"

namespace mixcert {
namespace psd_factor_test {

using testing::random_matrix;

/// |L L' - C| for C = F F', F size x rank.
double factor_error(Index size, Index rank, Generator& generator) {
  const Matrix factor = random_matrix(generator, size, rank);
  const Matrix matrix = factor * factor.transpose();
  const Matrix root = psd_factor(matrix);
  return (root * root.transpose() - matrix).cwiseAbs().maxCoeff();
}

TEST(PsdFactor, ReproducesMatricesOfAnyRank) {
  Generator generator = make_generator(31, Stream::Example);
  for (const Index size : {1, 2, 5, 20}) {
    for (const Index rank : {Index{0}, Index{1}, size / 2, size, 2 * size}) {
      EXPECT_LE(factor_error(size, rank, generator), 1e-12) << size << " of rank " << rank;
    }
  }
}

TEST(PsdFactor, ReadsTheLowerTriangleOnly) {
  Matrix matrix{{4.0, 99.0}, {2.0, 3.0}};
  const Matrix root = psd_factor(matrix);
  EXPECT_NEAR((root * root.transpose())(0, 1), 2.0, 1e-14);
  matrix << 1.0, 99.0, 1.0, 1.0;
  const Matrix singular = psd_factor(matrix);
  EXPECT_NEAR((singular * singular.transpose())(0, 1), 1.0, 1e-14);
}

TEST(PsdFactor, ForgivesRoundingBelowZero) {
  const Matrix matrix{{1.0, 0.0}, {0.0, -1e-17}};
  const Matrix root = psd_factor(matrix);
  EXPECT_TRUE(root.allFinite());
  EXPECT_NEAR((root * root.transpose() - matrix).cwiseAbs().maxCoeff(), 0.0, 1e-16);
  EXPECT_EQ(psd_factor(Matrix::Constant(1, 1, -1e-17))(0, 0), 0.0);
}

}  // namespace psd_factor_test
}  // namespace mixcert
