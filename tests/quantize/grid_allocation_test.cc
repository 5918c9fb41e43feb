// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Grid sizes against enumeration of all products, and invariants at budgets where
// enumeration is out of reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "quantize/signature.h"

namespace mixcert {
namespace grid_allocation_test {

double optimal_distortion(Index n) { return optimal_quantizer(n).distortion.nominal; }
/// Cheap stand-in with the same shape for large budgets.
double panter_dite(Index n) { return 1.0 / static_cast<double>(n * n); }

double cost_of(const Vector& eigenvalues, const std::vector<Index>& sizes,
               const DistortionTable& distortion) {
  double cost = 0.0;
  for (Index j = 0; j < eigenvalues.size(); ++j) {
    cost += eigenvalues(j) * distortion(sizes[static_cast<std::size_t>(j)]);
  }
  return cost;
}

Index product_of(const std::vector<Index>& sizes) {
  Index product = 1;
  for (const Index n : sizes) product *= n;
  return product;
}

/// The least cost over all sizes with product at most `budget`; cost(axis, n - 1), axis by axis.
double brute_force(const Matrix& cost, Index budget, Index axis = 0) {
  if (axis == cost.rows()) return 0.0;
  double best = INFINITY;
  for (Index n = 1; n <= budget; ++n) {
    best = std::min(best, cost(axis, n - 1) + brute_force(cost, budget / n, axis + 1));
  }
  return best;
}

Vector random_eigenvalues(Generator& generator, Index size, int shape) {
  Vector values(size);
  for (Index j = 0; j < size; ++j) {
    const double x = uniform(generator);
    if (shape == 0) values(j) = x;
    if (shape == 1) values(j) = std::pow(10.0, -6.0 * x);
    if (shape == 2) values(j) = x < 0.4 ? 0.0 : x;
    if (shape == 3) values(j) = std::floor(3.0 * x);  // ties and zeros
    if (shape == 4) values(j) = 1.0;
  }
  return values;
}

TEST(GridAllocation, EqualsBruteForceForAllSmallBudgets) {
  Vector table(200);
  for (Index n = 1; n <= 200; ++n) table(n - 1) = optimal_distortion(n);
  Generator generator = make_generator(21, Stream::Example);
  for (Index budget = 1; budget <= 200; ++budget) {
    for (int shape = 0; shape < 5; ++shape) {
      const Index axes = 1 + static_cast<Index>(generator() % (budget <= 40 ? 6 : 4));
      const Vector eigenvalues = random_eigenvalues(generator, axes, shape);
      const std::vector<Index> sizes = optimal_grid_sizes(eigenvalues, budget, optimal_distortion);
      ASSERT_LE(product_of(sizes), budget);
      const double best = brute_force(eigenvalues * table.transpose(), budget);
      EXPECT_NEAR(cost_of(eigenvalues, sizes, optimal_distortion), best, 1e-14 * (best + 1e-300))
          << "budget " << budget << " eigenvalues " << eigenvalues.transpose();
    }
  }
}

TEST(GridAllocation, EqualsBruteForceForAnyFallingCosts) {
  Generator generator = make_generator(22, Stream::Example);
  for (Index budget = 1; budget <= 60; ++budget) {
    const Index axes = static_cast<Index>(generator() % 5);
    Matrix cost(axes, budget);
    for (Index axis = 0; axis < axes; ++axis) {
      double last = uniform(generator);
      // Plateaus and sudden drops: only monotonicity is promised.
      for (Index n = 0; n < budget; ++n)
        cost(axis, n) = last *= generator() % 3 == 0 ? uniform(generator) : 1.0;
    }
    const std::vector<Index> sizes =
        optimal_grid_sizes(axes, budget, [&](Index axis, Index n) { return cost(axis, n - 1); });
    ASSERT_EQ(static_cast<Index>(sizes.size()), axes);
    ASSERT_LE(product_of(sizes), budget);
    double total = 0.0;
    for (Index axis = 0; axis < axes; ++axis) total += cost(axis, sizes[static_cast<std::size_t>(axis)] - 1);
    EXPECT_NEAR(total, brute_force(cost, budget), 1e-14);
  }
}

TEST(GridAllocation, KeepsItsInvariantsUpToAMillionPoints) {
  Generator generator = make_generator(22, Stream::Example);
  for (const Index budget : {1000, 9999, 10000, 10001, 65536, 999983, 1000000}) {
    for (int shape = 0; shape < 5; ++shape) {
      const Vector eigenvalues =
          random_eigenvalues(generator, 1 + static_cast<Index>(generator() % 30), shape);
      const std::vector<Index> sizes = optimal_grid_sizes(eigenvalues, budget, panter_dite);
      ASSERT_EQ(static_cast<Index>(sizes.size()), eigenvalues.size());
      EXPECT_LE(product_of(sizes), budget);
      EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), kMaxQuantizerSize);
      EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), 1);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        EXPECT_TRUE(sizes[i] == 1 || eigenvalues(static_cast<Index>(i)) > 0.0);
        // One more point anywhere does not fit, unless the axis is full or worth nothing.
        const bool fits = product_of(sizes) / sizes[i] * (sizes[i] + 1) <= budget;
        EXPECT_TRUE(!fits || sizes[i] == kMaxQuantizerSize || eigenvalues(static_cast<Index>(i)) == 0.0);
        for (std::size_t j = 0; j < sizes.size(); ++j) {
          if (eigenvalues(static_cast<Index>(i)) > eigenvalues(static_cast<Index>(j))) {
            EXPECT_GE(sizes[i], sizes[j]);
          }
        }
      }
    }
  }
}

TEST(GridAllocation, BeatsEveryProductOfTwoAxesAtLargeBudgets) {
  for (const Index budget : {5000, 40000, 1000000}) {
    const Vector eigenvalues = (Vector(2) << 3.0, 0.01).finished();
    double best = INFINITY;
    for (Index n = 1; n <= std::min(budget, kMaxQuantizerSize); ++n) {
      const Index m = std::min(budget / n, kMaxQuantizerSize);
      best = std::min(best, 3.0 * panter_dite(n) + 0.01 * panter_dite(m));
    }
    const std::vector<Index> sizes = optimal_grid_sizes(eigenvalues, budget, panter_dite);
    EXPECT_NEAR(cost_of(eigenvalues, sizes, panter_dite), best, 1e-14 * best) << budget;
  }
}

TEST(GridAllocation, OneAxisTakesAllUpToTheCap) {
  for (const Index budget : {1, 2, 17, 10000, 10001, 1000000}) {
    const std::vector<Index> sizes = optimal_grid_sizes(Vector::Ones(1), budget, panter_dite);
    EXPECT_EQ(sizes.front(), std::min(budget, kMaxQuantizerSize));
  }
}

TEST(GridAllocation, PutsFewestPointsOnLaterAxesAmongOptima) {
  EXPECT_EQ(optimal_grid_sizes(Vector::Ones(2), 2, optimal_distortion), (std::vector<Index>{2, 1}));
  EXPECT_EQ(optimal_grid_sizes(Vector::Ones(3), 6, optimal_distortion), (std::vector<Index>{3, 2, 1}));
  EXPECT_EQ(optimal_grid_sizes(Vector::Zero(3), 100, optimal_distortion), (std::vector<Index>{1, 1, 1}));
}

TEST(GridAllocation, CostNeverRisesWithTheBudget) {
  const Vector eigenvalues = (Vector(4) << 2.0, 1.0, 0.5, 0.1).finished();
  double previous = INFINITY;
  for (Index budget = 1; budget <= 500; ++budget) {
    const double cost =
        cost_of(eigenvalues, optimal_grid_sizes(eigenvalues, budget, optimal_distortion), optimal_distortion);
    EXPECT_LE(cost, previous);
    previous = cost;
  }
}

TEST(GridAllocation, CountsActiveAxes) {
  EXPECT_EQ(max_active_axes(1), 0);
  for (Index axes = 1; axes < 20; ++axes) {
    EXPECT_EQ(max_active_axes(Index{1} << axes), axes);
    EXPECT_EQ(max_active_axes((Index{1} << axes) - 1), axes - 1);
  }
}

TEST(GridAllocation, RefusesBadArguments) {
  EXPECT_THROW(optimal_grid_sizes(Vector::Ones(2), 0, panter_dite), InvalidArgument);
  EXPECT_THROW(optimal_grid_sizes(Vector::Ones(2), kMaxGridSize + 1, panter_dite), InvalidArgument);
  EXPECT_THROW(optimal_grid_sizes(-Vector::Ones(2), 5, panter_dite), InvalidArgument);
  EXPECT_THROW(optimal_grid_sizes(Vector::Constant(2, NAN), 5, panter_dite), InvalidArgument);
  EXPECT_TRUE(optimal_grid_sizes(Vector(0), 5, panter_dite).empty());
}

}  // namespace grid_allocation_test
}  // namespace mixcert
