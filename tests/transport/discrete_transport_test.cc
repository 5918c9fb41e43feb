// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Discrete transport against enumeration, linear-programming duality and sorting.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/random_laws.h"

namespace mixcert {
namespace discrete_transport_test {

using testing::random_matrix;
using testing::random_weights;
using testing::squared_distance_matrix;

/// Largest deviation of a marginal of the plan from the weights.
double marginal_error(const TransportPlan& plan, const Vector& source, const Vector& target) {
  Vector rows = -source;
  Vector columns = -target;
  for (const PlanEntry& entry : plan.entries) {
    rows(entry.source) += entry.mass;
    columns(entry.target) += entry.mass;
  }
  return std::max(rows.cwiseAbs().maxCoeff(), columns.cwiseAbs().maxCoeff());
}

double cheapest_permutation(const Matrix& cost) {
  std::vector<Index> order(static_cast<std::size_t>(cost.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  double best = std::numeric_limits<double>::infinity();
  do {
    double total = 0.0;
    for (Index i = 0; i < cost.rows(); ++i) total += cost(i, order[static_cast<std::size_t>(i)]);
    best = std::min(best, total);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// A lower bound of the optimal value, equal to it for an optimal plan: shortest paths in
/// the residual graph of the plan (arcs i -> j at cost c_ij, back at -c_ij where mass
/// moves) are dual variables; those of the targets are lowered until u_i + v_j <= c_ij.
double dual_value(const TransportPlan& plan, const Vector& source, const Vector& target, const Matrix& cost) {
  Vector from = Vector::Zero(cost.rows());
  Vector to = Vector::Constant(cost.cols(), std::numeric_limits<double>::infinity());
  for (Index round = 0; round <= cost.rows() + cost.cols(); ++round) {
    for (Index j = 0; j < cost.cols(); ++j) to(j) = std::min(to(j), (from + cost.col(j)).minCoeff());
    for (const PlanEntry& e : plan.entries) {
      from(e.source) = std::min(from(e.source), to(e.target) - cost(e.source, e.target));
    }
  }
  for (Index j = 0; j < cost.cols(); ++j) to(j) = (from + cost.col(j)).minCoeff();
  return target.dot(to) - source.dot(from);
}

class EqualWeights : public ::testing::TestWithParam<Index> {};

TEST_P(EqualWeights, PlanIsTheCheapestPermutation) {
  Generator generator = make_generator(1, Stream::Example, static_cast<std::uint64_t>(GetParam()));
  const Index n = GetParam();
  const Vector weights = Vector::Constant(n, 1.0 / static_cast<double>(n));
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Matrix cost = random_matrix(generator, n, n).cwiseAbs();
    const TransportPlan plan = optimal_plan(weights, weights, cost);
    EXPECT_NEAR(plan.cost, cheapest_permutation(cost) / static_cast<double>(n), 1e-14);
    EXPECT_LE(marginal_error(plan, weights, weights), 1e-15);
  }
}

TEST_P(EqualWeights, EmpiricalDistanceIsTheCheapestPairing) {
  Generator generator = make_generator(2, Stream::Example, static_cast<std::uint64_t>(GetParam()));
  const Index n = GetParam();
  for (const Index dimension : {1, 2, 5}) {
    const Matrix a = random_matrix(generator, dimension, n);
    const Matrix b = random_matrix(generator, dimension, n);
    const double best = cheapest_permutation(squared_distance_matrix(a, b)) / static_cast<double>(n);
    EXPECT_NEAR(empirical_wasserstein2(a, b), std::sqrt(best), 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, EqualWeights, ::testing::Values(1, 2, 3, 4, 5, 6));

TEST(OptimalPlan, TwoHundredRandomProblemsAreSolvedToOptimality) {
  Generator generator = make_generator(3, Stream::Example);
  for (int problem = 0; problem < 200; ++problem) {
    const Index sources = 1 + static_cast<Index>(uniform(generator) * 25);
    const Index targets = 1 + static_cast<Index>(uniform(generator) * 25);
    const Vector source = random_weights(generator, sources);
    const Vector target = random_weights(generator, targets);
    const double scale = std::pow(10.0, 40.0 * uniform(generator) - 20.0);
    const Matrix cost = scale * random_matrix(generator, sources, targets).cwiseAbs2();
    const TransportPlan plan = optimal_plan(source, target, cost);
    ASSERT_LE(marginal_error(plan, source, target), 1e-15);
    ASSERT_LE(plan.entries.size(), static_cast<std::size_t>(sources + targets - 1));
    const double slack = 1e-13 * cost.maxCoeff();
    ASSERT_NEAR(plan.cost, dual_value(plan, source, target, cost), slack) << "problem " << problem;
  }
}

TEST(OptimalPlan, DegenerateProblemsAreSolvedToOptimality) {
  Generator generator = make_generator(4, Stream::Example);
  for (int problem = 0; problem < 100; ++problem) {
    const Index n = 2 + static_cast<Index>(uniform(generator) * 12);
    // Multiples of 1/8 and small integer costs: ties everywhere, and rows of weight zero.
    Vector source = Vector::Zero(n);
    Vector target = Vector::Zero(n);
    for (int k = 0; k < 8; ++k) {
      source(static_cast<Index>(uniform(generator) * static_cast<double>(n))) += 0.125;
      target(static_cast<Index>(uniform(generator) * static_cast<double>(n))) += 0.125;
    }
    const Matrix cost = Matrix::NullaryExpr(n, n, [&] { return std::floor(4.0 * uniform(generator)); });
    const TransportPlan plan = optimal_plan(source, target, cost);
    ASSERT_EQ(marginal_error(plan, source, target), 0.0);
    ASSERT_EQ(plan.cost, dual_value(plan, source, target, cost));
    for (const PlanEntry& entry : plan.entries) ASSERT_GT(entry.mass, 0.0);
  }
}

TEST(OptimalPlan, WeightsOfVeryDifferentSizesKeepTheirMarginals) {
  const Vector source{{1.0 - 1e-9 - 1e-14, 1e-9, 1e-14}};
  const Vector target{{0.5, 0.5}};
  const TransportPlan plan = optimal_plan(source, target, Matrix{{0, 1}, {1, 0}, {3, 7}});
  EXPECT_LE(marginal_error(plan, source, target), 1e-16);
  double tiny = 0.0;
  for (const PlanEntry& entry : plan.entries) tiny += entry.source == 2 ? entry.mass : 0.0;
  EXPECT_NEAR(tiny, 1e-14, 1e-18);
}

TEST(OptimalPlan, SingleSourceShipsTheTargetWeights) {
  const Vector target{{0.2, 0.0, 0.8}};
  const TransportPlan plan = optimal_plan(Vector::Ones(1), target, Matrix{{1, 2, 3}});
  ASSERT_EQ(plan.entries.size(), 2U);
  EXPECT_NEAR(plan.cost, 0.2 + 2.4, 1e-15);
  EXPECT_EQ(optimal_plan(Vector::Ones(1), Vector::Ones(1), Matrix{{7}}).cost, 7.0);
}

TEST(OptimalPlan, MayHaveNegativeCosts) {
  const Vector half = Vector::Constant(2, 0.5);
  EXPECT_EQ(optimal_plan(half, half, Matrix{{-1, 0}, {0, -3}}).cost, -2.0);
  EXPECT_EQ(optimal_plan(half, half, Matrix::Zero(2, 2)).cost, 0.0);
}

struct BadProblem {
  const char* what;
  Vector source;
  Vector target;
  Matrix cost;
};

TEST(OptimalPlan, RefusesBadInput) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Vector half = Vector::Constant(2, 0.5);
  const Matrix cost = Matrix::Ones(2, 2);
  const std::vector<BadProblem> problems = {
      {"length", Vector::Ones(1), half, cost},
      {"empty", Vector(0), half, Matrix(0, 2)},
      {"negative weight", Vector{{1.5, -0.5}}, half, cost},
      {"NaN weight", Vector{{nan, 0.5}}, half, cost},
      {"sum", Vector{{0.5, 0.5 + 1e-8}}, half, cost},
      {"target sum", half, Vector{{0.5, 0.4}}, cost},
      {"NaN cost", half, half, Matrix{{1, nan}, {0, 0}}},
      {"infinite cost", half, half, Matrix{{1, std::numeric_limits<double>::infinity()}, {0, 0}}},
  };
  for (const BadProblem& bad : problems) {
    EXPECT_THROW((void)optimal_plan(bad.source, bad.target, bad.cost), InvalidArgument) << bad.what;
  }
}

TEST(EmpiricalWasserstein, IsAMetric) {
  Generator generator = make_generator(5, Stream::Example);
  for (const Index dimension : {1, 3}) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      const Matrix a = random_matrix(generator, dimension, 40);
      const Matrix b = random_matrix(generator, dimension, 40).array() + 0.5;
      const Matrix c = 2.0 * random_matrix(generator, dimension, 40);
      const double ab = empirical_wasserstein2(a, b);
      EXPECT_EQ(empirical_wasserstein2(a, a), 0.0);
      EXPECT_GT(ab, 0.0);
      EXPECT_NEAR(ab, empirical_wasserstein2(b, a), 1e-14);
      EXPECT_LE(empirical_wasserstein2(a, c), ab + empirical_wasserstein2(b, c) + 1e-14);
    }
  }
}

TEST(EmpiricalWasserstein, SortingAgreesWithTheSimplex) {
  Generator generator = make_generator(6, Stream::Example);
  for (const Index n : {1, 2, 17, 100}) {
    const Matrix a = random_matrix(generator, 1, n);
    const Matrix b = random_matrix(generator, 1, n);
    Matrix flat_a = Matrix::Constant(2, n, 3.0);
    Matrix flat_b = flat_a;
    flat_a.row(0) = a;
    flat_b.row(0) = b;
    EXPECT_NEAR(empirical_wasserstein2(a, b), empirical_wasserstein2(flat_a, flat_b), 1e-13);
  }
}

TEST(EmpiricalWasserstein, AThousandPointsMovedTogether) {
  // A translation is optimal, far from the origin as well.
  Generator generator = make_generator(7, Stream::Example);
  const Matrix a = random_matrix(generator, 3, 1000).array() + 1e3;
  const Vector shift{{0.3, -0.4, 1.2}};
  const Matrix b = (a.colwise() + shift).rowwise().reverse();
  EXPECT_NEAR(empirical_wasserstein2(a, b), 1.3, 1e-9);
}

TEST(EmpiricalWasserstein, RefusesBadInput) {
  Matrix bad = Matrix::Zero(2, 3);
  bad(1, 2) = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)empirical_wasserstein2(Matrix::Zero(2, 3), Matrix::Zero(2, 4)), InvalidArgument);
  EXPECT_THROW((void)empirical_wasserstein2(Matrix::Zero(1, 3), Matrix::Zero(2, 3)), InvalidArgument);
  EXPECT_THROW((void)empirical_wasserstein2(Matrix(2, 0), Matrix(2, 0)), InvalidArgument);
  EXPECT_THROW((void)empirical_wasserstein2(Matrix::Zero(2, 3), bad), InvalidArgument);
  const Matrix huge = Matrix::Zero(2, 100000);
  EXPECT_THROW((void)empirical_wasserstein2(huge, huge), ResourceError);
}

}  // namespace discrete_transport_test
}  // namespace mixcert
