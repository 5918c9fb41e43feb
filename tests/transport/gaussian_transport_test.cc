// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2 between Gaussians in a metric against the dense Bures formula, for all pairs of
// structures: never below the truth, and close to it when one side at most has a low-rank
// part. trace_sqrt_gain never above dense eigenvalues.
#include "mixcert/transport/gaussian_transport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace gaussian_transport_test {

using testing::is_close;
using testing::Structure;

Matrix dense_root(const Matrix& matrix) {
  const SymmetricEigen solver = symmetric_eigen(matrix);
  return solver.vectors * solver.values.cwiseMax(0.0).cwiseSqrt().asDiagonal() * solver.vectors.transpose();
}

/// tr A + tr C - 2 tr (A^{1/2} C A^{1/2})^{1/2} in metric coordinates, plus the means.
double dense_cost(const Gaussian& a, const Gaussian& c, const Vector& metric) {
  const auto scale = metric.cwiseSqrt().asDiagonal();
  const Matrix ca = scale * a.covariance.to_dense() * scale;
  const Matrix cc = scale * c.covariance.to_dense() * scale;
  const Matrix root = dense_root(ca);
  const SymmetricEigen solver = symmetric_eigen(root * cc * root);
  const double fidelity = solver.values.cwiseMax(0.0).cwiseSqrt().sum();
  return metric.dot((a.mean - c.mean).cwiseAbs2()) + ca.trace() + cc.trace() - 2.0 * fidelity;
}

double scale_of(const Gaussian& a, const Gaussian& c, const Vector& metric) {
  return metric.dot(a.covariance.variances() + c.covariance.variances()) +
         metric.dot((a.mean - c.mean).cwiseAbs2());
}

bool has_low_rank(const Gaussian& g) { return g.covariance.rank() > 0; }

class CostBetween : public ::testing::TestWithParam<std::tuple<Structure, Structure>> {
 protected:
  static Gaussian make(Generator& generator, Structure structure, Index rank) {
    const Vector mean = testing::random_matrix(generator, 12, 1);
    return {mean, testing::random_structured(generator, structure, 12, rank)};
  }
};

// Eigenvalues of size epsilon have roots of size 1e-8, which the dense formula adds up.
constexpr double kDenseError = 1e-7;
// Low-rank columns beyond this many are left out, which is safe but no longer exact.
constexpr Index kColumnsUsed = 8;

TEST_P(CostBetween, IsTheDenseFormulaOrAbove) {
  Generator generator = make_generator(81, Stream::Example);
  for (const Index rank : {0, 1, 2, 5}) {
    const Gaussian a = make(generator, std::get<0>(GetParam()), rank);
    const Gaussian c = make(generator, std::get<1>(GetParam()), rank);
    Vector metric = testing::random_matrix(generator, 12, 1).cwiseAbs2();
    if (rank == 1) metric.head(4).setZero();
    const UpperBound got = gaussian_transport_cost(a, c, metric);
    const double exact = dense_cost(a, c, metric);
    const double scale = scale_of(a, c, metric);
    EXPECT_GE(got.nominal, exact - kDenseError * scale);
    EXPECT_GE(got.upper, got.nominal);
    EXPECT_LE(got.inflation(), 1e-5 * scale);
    if (!has_low_rank(a) || !has_low_rank(c)) {
      EXPECT_LE(got.nominal, exact + 1e-5 * scale) << "rank " << rank;
    }
  }
}

TEST_P(CostBetween, IsSymmetricAndZeroOnItself) {
  Generator generator = make_generator(82, Stream::Example);
  const Gaussian a = make(generator, std::get<0>(GetParam()), 2);
  const Gaussian c = make(generator, std::get<1>(GetParam()), 2);
  const Vector metric = Vector::Ones(12);
  const double scale = scale_of(a, c, metric);
  EXPECT_TRUE(is_close(gaussian_transport_cost(a, c, metric).nominal,
                       gaussian_transport_cost(c, a, metric).nominal, 1e-6, scale));
  if (!has_low_rank(a)) {
    EXPECT_LE(gaussian_transport_cost(a, a, metric).nominal, 1e-7 * scale_of(a, a, metric));
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, CostBetween,
                         ::testing::Combine(::testing::ValuesIn(testing::all_structures()),
                                            ::testing::ValuesIn(testing::all_structures())),
                         [](const auto& tested) {
                           return testing::to_string(std::get<0>(tested.param)) + "_" +
                                  testing::to_string(std::get<1>(tested.param));
                         });

TEST(GaussianTransport, ManyLowRankColumnsStayAbove) {
  Generator generator = make_generator(83, Stream::Example);
  for (const Index rank : {Index{5}, kColumnsUsed, Index{11}, Index{30}}) {
    const Vector variances = testing::random_matrix(generator, 60, 1).cwiseAbs2();
    const Gaussian a{Vector::Zero(60), Covariance::diagonal(variances)};
    const Matrix factor = 0.3 * testing::random_matrix(generator, 60, rank);
    const Gaussian c{Vector::Zero(60), Covariance::diagonal(variances).plus_low_rank(factor)};
    const double exact = dense_cost(a, c, Vector::Ones(60));
    const double scale = scale_of(a, c, Vector::Ones(60));
    const UpperBound got = gaussian_transport_cost(a, c, Vector::Ones(60));
    EXPECT_GE(got.nominal, exact - kDenseError * scale);
    EXPECT_LE(got.nominal, exact + (rank <= kColumnsUsed ? 1e-5 : 0.2) * scale) << rank;
  }
}

TEST(GaussianTransport, DiagonalCostIsExactToTheLastDigits) {
  // Nearly equal deviations: the trace formula would lose all digits.
  const Vector a = Vector::LinSpaced(5, 1.0, 2.0);
  const Vector c = a * (1.0 + 1e-9);
  const Gaussian left{Vector::Zero(5), Covariance::diagonal(a)};
  const Gaussian right{Vector::Zero(5), Covariance::diagonal(c)};
  const double expected = a.sum() * 0.25e-18;
  const UpperBound got = gaussian_transport_cost(left, right, Vector::Ones(5));
  EXPECT_TRUE(is_close(got.nominal, expected, 1e-5));
  EXPECT_GE(got.upper, expected * (1.0 - 1e-5));
}

TEST(GaussianTransport, ClusterCaseOfOneMemberAgainstItsAverage) {
  // What compression asks: A diagonal, C = A plus the spread of means; upper must hold.
  Generator generator = make_generator(84, Stream::Example);
  for (int trial = 0; trial < 20; ++trial) {
    const Vector variances = testing::random_matrix(generator, 40, 1).cwiseAbs2();
    const Matrix spread = std::pow(10.0, -trial / 3.0) * testing::random_matrix(generator, 40, 3);
    const Gaussian a{Vector::Zero(40), Covariance::diagonal(variances)};
    const Gaussian c{Vector::Zero(40), Covariance::diagonal(variances).plus_low_rank(spread)};
    const double exact = dense_cost(a, c, Vector::Ones(40));
    const double scale = scale_of(a, c, Vector::Ones(40));
    EXPECT_GE(gaussian_transport_cost(a, c, Vector::Ones(40)).upper, exact - 1e-12 * scale) << trial;
  }
}

TEST(GaussianTransport, RefusesDifferentDimensions) {
  const Gaussian a{Vector::Zero(2), Covariance::zero(2)};
  const Gaussian b{Vector::Zero(3), Covariance::zero(3)};
  EXPECT_THROW(gaussian_transport_cost(a, b, Vector::Ones(2)), InvalidArgument);
  EXPECT_THROW(gaussian_transport_cost(a, a, Vector::Ones(3)), InvalidArgument);
}

/// tr sqrt(diag(x) + YY') - sum sqrt(x) from dense eigenvalues.
double dense_gain(const Vector& x, const Matrix& y) {
  const SymmetricEigen solver = symmetric_eigen(Matrix(x.asDiagonal()) + y * y.transpose());
  return solver.values.cwiseMax(0.0).cwiseSqrt().sum() - x.cwiseSqrt().sum();
}

class TraceSqrtGain : public ::testing::TestWithParam<Index> {};

TEST_P(TraceSqrtGain, IsNeverAboveTheExactValueAndCloseToIt) {
  Generator generator = make_generator(85, Stream::Example);
  for (int trial = 0; trial < 40; ++trial) {
    const Index n = 1 + static_cast<Index>(generator() % 20);
    Vector x = testing::random_matrix(generator, n, 1).cwiseAbs2();
    if (trial % 3 == 0) x = (x.array() > 0.5).select(x, 0.0).eval();
    if (trial % 7 == 0) x.setZero();
    Matrix y = testing::random_matrix(generator, n, GetParam());
    const double spread = std::pow(10.0, 4.0 * uniform(generator) - 3.0);
    y *= spread;
    for (const double scale : {1e-30, 1e-15, 1.0, 1e15, 1e30}) {
      const double exact = dense_gain(scale * x, std::sqrt(scale) * y);
      const double got = trace_sqrt_gain(scale * x, std::sqrt(scale) * y);
      const double size = std::sqrt(scale) * (x.cwiseSqrt().sum() + y.norm());
      EXPECT_LE(got, exact + 1e-7 * size) << trial << " scale " << scale;
      EXPECT_GE(got, 0.0);
      if (GetParam() <= kColumnsUsed) {
        EXPECT_GE(got, exact - 1e-5 * size) << trial << " scale " << scale;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, TraceSqrtGain, ::testing::Values(0, 1, 2, 5, 8, 11, 30));

TEST(TraceSqrtGain, OneDimensionIsNeverAboveTheClosedForm) {
  // sqrt(x + y^2) - sqrt(x) without cancellation: y^2 / (sqrt(x + y^2) + sqrt(x)).
  Generator generator = make_generator(86, Stream::Example);
  for (int trial = 0; trial < 3000; ++trial) {
    const double x = trial % 10 == 0 ? 0.0 : std::pow(10.0, 60.0 * uniform(generator) - 30.0);
    const double y = std::pow(10.0, 30.0 * uniform(generator) - 15.0);
    const double exact = y * y / (std::sqrt(x + y * y) + std::sqrt(x));
    EXPECT_LE(trace_sqrt_gain(Vector::Constant(1, x), Matrix::Constant(1, 1, y)), exact * (1.0 + 1e-15))
        << x << " " << y;
  }
}

TEST(Gelbrich, IsZeroOnItselfSymmetricAndTheDenseFormula) {
  Generator generator = make_generator(87, Stream::Example);
  for (const Structure structure : testing::all_structures()) {
    const Matrix a = testing::random_structured(generator, structure, 9).to_dense();
    const Matrix c = testing::random_covariance(generator, 9);
    const Vector m = testing::random_matrix(generator, 9, 1);
    const Vector k = testing::random_matrix(generator, 9, 1);
    const double scale = a.trace() + c.trace();
    EXPECT_NEAR(gelbrich_squared(m, a, m, a), 0.0, 1e-13 * scale);
    EXPECT_TRUE(is_close(gelbrich_squared(m, a, k, c), gelbrich_squared(k, c, m, a), 1e-12, scale));
    const double dense = dense_cost({m, Covariance::dense(a)}, {k, Covariance::dense(c)}, Vector::Ones(9));
    EXPECT_TRUE(is_close(gelbrich_squared(m, a, k, c), dense, kDenseError, scale));
  }
}

}  // namespace gaussian_transport_test
}  // namespace mixcert
