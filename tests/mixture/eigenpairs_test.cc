// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Leading eigenpairs against Eigen's dense solver for every structure: dimensions 1 to 200,
// rank-one and zero matrices, repeated eigenvalues.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "mixture/symmetric_eigen.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace eigenpairs_test {

using testing::is_close;
using testing::Structure;
using testing::Tolerance;

void expect_leading(const Covariance& covariance, Index count) {
  const Eigenpairs got = leading_eigenpairs(covariance, count);
  const Index expected_count = std::min(count, covariance.dimension());
  ASSERT_EQ(got.values.size(), expected_count);
  ASSERT_EQ(got.vectors.rows(), covariance.dimension());
  ASSERT_EQ(got.vectors.cols(), expected_count);
  if (expected_count == 0) return;
  const Matrix dense = covariance.to_dense();
  const double scale = dense.trace();
  const SymmetricEigen solver = symmetric_eigen(dense);
  const Vector expected = solver.values.reverse().head(expected_count).cwiseMax(0.0);
  EXPECT_LE((got.values - expected).cwiseAbs().maxCoeff(), Tolerance::eigenvalues * scale)
      << got.values.transpose() << "\nexpected\n"
      << expected.transpose();
  EXPECT_GE(got.values.minCoeff(), 0.0);
  for (Index i = 1; i < expected_count; ++i) EXPECT_GE(got.values(i - 1), got.values(i));
  const Matrix gram = got.vectors.transpose() * got.vectors;
  EXPECT_TRUE(is_close(gram, Matrix::Identity(expected_count, expected_count), Tolerance::eigenvalues));
  const Matrix residual = dense * got.vectors - got.vectors * got.values.asDiagonal();
  EXPECT_LE(residual.norm(), Tolerance::eigenvalues * scale);
}

class Leading : public ::testing::TestWithParam<std::tuple<Structure, Index>> {};

TEST_P(Leading, PairsMatchTheDenseSolver) {
  const auto [structure, dimension] = GetParam();
  Generator generator = make_generator(static_cast<std::uint64_t>(dimension), Stream::Example);
  const Covariance covariance = testing::random_structured(generator, structure, dimension, 3);
  for (const Index count : {Index{0}, Index{1}, Index{3}, Index{10}, dimension}) {
    SCOPED_TRACE(count);
    expect_leading(covariance, count);
  }
}

INSTANTIATE_TEST_SUITE_P(Structures, Leading,
                         ::testing::Combine(::testing::ValuesIn(testing::all_structures()),
                                            ::testing::Values(3, 39, 42, 99, 198)),
                         [](const auto& tested) {
                           return testing::to_string(std::get<0>(tested.param)) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

TEST(LeadingEigenpairs, OneDimension) {
  expect_leading(Covariance::diagonal(Vector::Constant(1, 2.0)), 1);
  expect_leading(Covariance::dense(Matrix::Zero(1, 1)), 1);
}

TEST(LeadingEigenpairs, RepeatedEigenvaluesAreAllFound) {
  Generator generator = make_generator(3, Stream::Example);
  for (const Index n : {30, 60, 200}) {
    // Ten copies of 3 above the rest, and one direction added by the low-rank part.
    Vector variances = Vector::Ones(n);
    variances.tail(10).setConstant(3.0);
    expect_leading(Covariance::diagonal(variances), 8);
    expect_leading(Covariance::diagonal(variances).plus_low_rank(testing::random_matrix(generator, n, 1)), 8);
    expect_leading(
        Covariance::diagonal(Vector::Ones(n)).plus_low_rank(testing::random_matrix(generator, n, 2)), 6);
    expect_leading(Covariance::dense(Matrix::Identity(n, n)), 5);
    expect_leading(Covariance::block_diagonal(Matrix::Identity(3, 3).replicate(n / 3, 1)), 5);
  }
}

TEST(LeadingEigenpairs, LowRankWithoutDiagonal) {
  Generator generator = make_generator(4, Stream::Example);
  for (const Index n : {20, 50, 150}) {
    const Matrix factor = testing::random_matrix(generator, n, 2);
    expect_leading(Covariance::zero(n).plus_low_rank(factor), 7);
    expect_leading(Covariance::zero(n).plus_low_rank(1e-8 * factor), 7);
    expect_leading(Covariance::zero(n).plus_low_rank(1e8 * factor), 7);
  }
}

TEST(LeadingEigenpairs, WidelySpreadEigenvalues) {
  Generator generator = make_generator(5, Stream::Example);
  const Index n = 120;
  const Vector variances = Vector::NullaryExpr(n, [&] { return std::pow(10.0, -12.0 * uniform(generator)); });
  expect_leading(
      Covariance::diagonal(variances).plus_low_rank(1e-3 * testing::random_matrix(generator, n, 3)), 10);
}

}  // namespace eigenpairs_test
}  // namespace mixcert
