// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Every operation on structured covariances against the dense matrix.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace covariance_test {

using testing::is_close;
using testing::Structure;
using testing::Tolerance;

/// blockdiag(B_1, ..., B_p) + F F', entry by entry.
Matrix naive_dense(const Covariance& c) {
  const Index b = c.block_size();
  return Matrix::NullaryExpr(c.dimension(), c.dimension(), [&](Index i, Index j) {
    double sum = i / b == j / b ? c.stacked_blocks()(i, j % b) : 0.0;
    for (Index k = 0; k < c.rank(); ++k) sum += c.factor()(i, k) * c.factor()(j, k);
    return sum;
  });
}

class CovarianceOf : public ::testing::TestWithParam<std::tuple<Structure, Index>> {
 protected:
  CovarianceOf()
      : generator_(make_generator(51, Stream::Example)),
        covariance_(testing::random_structured(generator_, std::get<0>(GetParam()), std::get<1>(GetParam()))),
        dense_(naive_dense(covariance_)) {}

  Generator generator_;
  Covariance covariance_;
  Matrix dense_;
};

TEST_P(CovarianceOf, MatchesTheDenseMatrix) {
  const Index n = covariance_.dimension();
  EXPECT_TRUE(is_close(covariance_.to_dense(), dense_, Tolerance::linear_algebra));
  EXPECT_TRUE(
      is_close(Matrix(covariance_.variances()), Matrix(dense_.diagonal()), Tolerance::linear_algebra));
  EXPECT_TRUE(is_close(covariance_.trace(), dense_.trace(), Tolerance::linear_algebra));
  const Matrix right = testing::random_matrix(generator_, n, 4);
  EXPECT_TRUE(is_close(covariance_.times(right), Matrix(dense_ * right), Tolerance::linear_algebra));
  EXPECT_TRUE(testing::is_positive_semidefinite(covariance_.to_dense()));
}

TEST_P(CovarianceOf, ScalesRowsAndColumns) {
  Vector scale = testing::random_matrix(generator_, covariance_.dimension(), 1);
  scale(0) = 0.0;
  const Covariance scaled = covariance_.scaled(scale);
  const Matrix expected = scale.asDiagonal() * dense_ * scale.asDiagonal();
  EXPECT_TRUE(is_close(scaled.to_dense(), expected, Tolerance::linear_algebra));
  EXPECT_EQ(scaled.block_size(), covariance_.block_size());
  EXPECT_EQ(scaled.rank(), covariance_.rank());
}

TEST_P(CovarianceOf, TakesSubmatricesInAnyOrder) {
  const Index n = covariance_.dimension();
  const std::vector<Index> indices = {n - 1, 0, n / 2};
  const Matrix got = covariance_.submatrix(indices);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      const double expected =
          dense_(indices[static_cast<std::size_t>(i)], indices[static_cast<std::size_t>(j)]);
      EXPECT_TRUE(is_close(got(i, j), expected, Tolerance::linear_algebra, dense_.trace()));
    }
  }
  EXPECT_EQ(covariance_.submatrix({}).size(), 0);
}

TEST_P(CovarianceOf, AddsLowRankParts) {
  const Index n = covariance_.dimension();
  for (const Index rank : {0, 1, 4}) {
    const Matrix factor = testing::random_matrix(generator_, n, rank);
    const Covariance sum = covariance_.plus_low_rank(factor).plus_low_rank(factor);
    EXPECT_TRUE(is_close(sum.to_dense(), Matrix(dense_ + 2.0 * factor * factor.transpose()),
                         Tolerance::linear_algebra));
    EXPECT_EQ(sum.rank(), covariance_.block_count() == 1 ? 0 : covariance_.rank() + 2 * rank);
  }
}

TEST_P(CovarianceOf, AveragesKeepTheStructure) {
  std::vector<Covariance> parts;
  for (Index rank : {1, 3, 0}) {
    parts.push_back(
        testing::random_structured(generator_, std::get<0>(GetParam()), covariance_.dimension(), rank));
  }
  const Vector weights = (Vector(4) << 0.2, 0.0, 0.5, 0.3).finished();
  const std::vector<const Covariance*> pointers = {&covariance_, parts.data(), parts.data() + 1,
                                                   parts.data() + 2};
  Matrix expected = Matrix::Zero(covariance_.dimension(), covariance_.dimension());
  for (Index i = 0; i < 4; ++i) expected += weights(i) * pointers[static_cast<std::size_t>(i)]->to_dense();
  const Covariance sum = weighted_sum(weights, pointers);
  EXPECT_TRUE(is_close(sum.to_dense(), expected, Tolerance::linear_algebra));
  EXPECT_EQ(sum.block_size(), covariance_.block_size());
}

INSTANTIATE_TEST_SUITE_P(Structures, CovarianceOf,
                         ::testing::Combine(::testing::ValuesIn(testing::all_structures()),
                                            ::testing::Values(3, 6, 30)),
                         [](const auto& tested) {
                           return testing::to_string(std::get<0>(tested.param)) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

TEST(Covariance, CountsBlocksRanksAndBytes) {
  const Covariance c = Covariance::block_diagonal(Matrix::Ones(6, 2)).plus_low_rank(Matrix::Ones(6, 1));
  EXPECT_EQ(c.block_count(), 3);
  EXPECT_EQ(c.rank(), 1);
  EXPECT_FALSE(c.is_diagonal());
  EXPECT_EQ(c.memory_in_bytes(), 8.0 * (12 + 6));
  EXPECT_TRUE(Covariance::diagonal(Vector::Ones(4)).is_diagonal());
  EXPECT_EQ(Covariance().dimension(), 0);
  EXPECT_EQ(Covariance().to_dense().size(), 0);
}

TEST(Covariance, RefusesWrongShapes) {
  EXPECT_THROW(Covariance::dense(Matrix::Ones(2, 3)), InvalidArgument);
  EXPECT_THROW(Covariance::block_diagonal(Matrix::Ones(5, 2)), InvalidArgument);
  const Covariance c = Covariance::diagonal(Vector::Ones(4));
  EXPECT_THROW(static_cast<void>(c.plus_low_rank(Matrix::Ones(3, 1))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(c.scaled(Vector::Ones(3))), InvalidArgument);
  const Covariance dense = Covariance::dense(Matrix::Identity(4, 4));
  EXPECT_THROW(weighted_sum(Vector::Constant(2, 0.5), {&c, &dense}), InvalidArgument);
  EXPECT_THROW(weighted_sum(Vector::Ones(1), {}), InvalidArgument);
}

}  // namespace covariance_test
}  // namespace mixcert
