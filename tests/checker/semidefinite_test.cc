// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// proves_semidefinite() proves what is so, near the edge too, and nothing else.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "checker/ball_matrix.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace semidefinite_test {

using mixcert_check::BallMatrix;
using mixcert_check::proves_semidefinite;

BallMatrix balls_of(const Matrix& matrix) {
  BallMatrix made(matrix.rows(), matrix.cols());
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) made.set(i, j, 0.5 * (matrix(i, j) + matrix(j, i)));
  }
  return made;
}

/// Of eigenvalues of size one but for the least one.
Matrix matrix_with(Index size, double least, std::uint64_t seed) {
  Generator generator(seed);
  const Matrix square = random_matrix(generator, size, size);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(square * square.transpose());
  Vector values = Vector::LinSpaced(size, 0.5, 2.0);
  values(0) = least;
  return solver.eigenvectors() * values.asDiagonal() * solver.eigenvectors().transpose();
}

TEST(Semidefinite, IsProvenNearTheEdgeAndNotBeyond) {
  for (const Index size : {2, 7, 40}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      EXPECT_TRUE(proves_semidefinite(balls_of(matrix_with(size, 1e-11, seed)))) << size;
      EXPECT_FALSE(proves_semidefinite(balls_of(matrix_with(size, -1e-13, seed)))) << size;
      EXPECT_FALSE(proves_semidefinite(balls_of(matrix_with(size, -1.0, seed)))) << size;
    }
  }
}

TEST(Semidefinite, SizesOfRowsDoNotMatter) {
  Matrix matrix = matrix_with(6, 1e-3, 1);
  Vector scale(6);
  scale << 1e-80, 1e-20, 1.0, 1e20, 1e80, 1e150;
  matrix = scale.asDiagonal() * matrix * scale.asDiagonal();
  EXPECT_TRUE(proves_semidefinite(balls_of(matrix)));
  matrix(0, 0) = -matrix(0, 0);
  EXPECT_FALSE(proves_semidefinite(balls_of(matrix)));
}

TEST(Semidefinite, ZerosAndBallsThatDoNotSay) {
  EXPECT_TRUE(proves_semidefinite(balls_of(Matrix::Zero(3, 3))));
  Matrix with_zeros = Matrix::Zero(5, 5);
  with_zeros.topLeftCorner(4, 4) = matrix_with(4, 1e-3, 2);
  EXPECT_TRUE(proves_semidefinite(balls_of(with_zeros)));
  with_zeros(4, 0) = with_zeros(0, 4) = 1e-9;
  EXPECT_FALSE(proves_semidefinite(balls_of(with_zeros)));
  BallMatrix unknown = balls_of(Matrix::Identity(2, 2));
  mixcert_check::Ball wide;
  arb_set_d(wide.data(), 0.0);
  mag_set_d(arb_radref(wide.data()), 2.0);
  unknown.set(0, 1, wide);
  unknown.set(1, 0, wide);
  EXPECT_FALSE(proves_semidefinite(unknown));
}

}  // namespace semidefinite_test
}  // namespace mixcert::testing
