// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The verified Loewner inequality (M.4): f diag(g) >= A holds for the returned f, in exact
// arithmetic, for matrices whose exact gap is known; f is close to one where that is possible.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "sensitivity/sensitivity.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace feasibility_test {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// Smallest eigenvalue of f I - S A S, S = diag(g)^{-1/2}, in extended precision.
long double scaled_gap(double factor, const Vector& g, const Matrix& a) {
  LongMatrix h = -a.cast<long double>();
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      h(i, j) /= std::sqrt(static_cast<long double>(g(i))) * std::sqrt(static_cast<long double>(g(j)));
    }
    h(i, i) += static_cast<long double>(factor);
  }
  return Eigen::SelfAdjointEigenSolver<LongMatrix>(h).eigenvalues()(0);
}

/// A random positive semidefinite matrix of the given rank whose scales span many decades.
Matrix random_gram(Generator& generator, Index size, Index rank, double decades) {
  const Matrix factor = random_matrix(generator, size, rank);
  const Vector scale =
      Vector::NullaryExpr(size, [&] { return std::pow(10.0, decades * (uniform(generator) - 0.5)); });
  const Matrix scaled = scale.asDiagonal() * factor;
  const Matrix gram = scaled * scaled.transpose();
  return 0.5 * (gram + gram.transpose());
}

/// Positive weights for which diag(g) - A has smallest scaled eigenvalue `gap`.
Vector metric_with_gap(Generator& generator, const Matrix& a, double gap) {
  const Vector shape = Vector::NullaryExpr(a.rows(), [&] { return 0.1 + uniform(generator); });
  const Vector base = a.diagonal().cwiseProduct(shape);
  const auto top = static_cast<double>(1.0L - scaled_gap(1.0, base, a));
  return base * top * (1.0 + gap);
}

TEST(Feasibility, NeverAcceptsAnInfeasibleMetric) {
  Generator generator = make_generator(1, Stream::Example);
  for (int trial = 0; trial < 200; ++trial) {
    const Index size = 1 + trial % 17;
    const Matrix a = random_gram(generator, size, 1 + trial % 5, trial % 3 == 0 ? 0.0 : 6.0);
    for (const double gap : {-1e-1, -1e-3, -1e-6, -1e-9, -1e-11, -1e-13}) {
      const Vector g = metric_with_gap(generator, a, gap);
      const double factor = feasibility_factor(g, a, 10);
      // The metric lacks a relative `gap`; what is returned must make up for it.
      EXPECT_GE(static_cast<double>(scaled_gap(factor, g, a)), 0.0) << "size " << size << ", gap " << gap;
    }
  }
}

TEST(Feasibility, CostsLittleWhereTheMetricIsFeasible) {
  Generator generator = make_generator(2, Stream::Example);
  for (int trial = 0; trial < 60; ++trial) {
    const Index size = 1 + trial % 40;
    const Matrix a = random_gram(generator, size, size, 4.0);
    EXPECT_LE(feasibility_factor(metric_with_gap(generator, a, 1e-9), a, 100), 1.0 + 1e-8);
    EXPECT_LE(feasibility_factor(metric_with_gap(generator, a, 0.0), a, 100), 1.0 + 1e-8);
  }
}

TEST(Feasibility, MoreRoundingsCostMore) {
  const Matrix a = Matrix::Ones(3, 3);
  const Vector g = Vector::Constant(3, 3.0);
  EXPECT_LT(feasibility_factor(g, a, 1), feasibility_factor(g, a, 1000000));
  EXPECT_GE(feasibility_factor(g, a, 1000000), 1.0 + 1000000 * kUnitRoundoff);
}

TEST(Feasibility, ZeroRowsAreLeftOut) {
  Matrix a = Matrix::Zero(3, 3);
  EXPECT_EQ(feasibility_factor(Vector::Zero(3), a, 5), 1.0);
  a(1, 1) = 2.0;
  const Vector g = Vector::Unit(3, 1) * 2.0;
  EXPECT_GE(feasibility_factor(g, a, 5), 1.0);
  EXPECT_LE(feasibility_factor(g, a, 5), 1.0 + 1e-12);
}

TEST(Feasibility, RefusesAZeroWeightWhereTheMatrixIsNotZero) {
  EXPECT_THROW(feasibility_factor(Vector::Zero(2), Matrix::Identity(2, 2), 5), InvalidArgument);
}

TEST(Feasibility, RefusesWhatIsNotANumber) {
  Matrix a = Matrix::Identity(2, 2);
  a(0, 1) = a(1, 0) = std::nan("");
  double factor = std::nan("");
  try {
    factor = feasibility_factor(Vector::Ones(2), a, 5);
  } catch (const Error&) {
  }
  EXPECT_FALSE(std::isfinite(factor));
}

}  // namespace feasibility_test
}  // namespace mixcert::testing
