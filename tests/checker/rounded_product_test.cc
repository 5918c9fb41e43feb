// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (I.6): balls of a product hold the products of all numbers of their factors' balls.
#include "checker/rounded_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mixcert::testing {
namespace rounded_product_test {

using mixcert_check::around;
using mixcert_check::Ball;
using mixcert_check::BallMatrix;
using mixcert_check::rounded_product;

/// Balls, and a number at the end of each.
struct Factor {
  BallMatrix balls, ends;
};

/// Entries of sizes up to e^spread, and radii up to `radius` of them.
Factor random_factor(std::mt19937_64& generator, slong rows, slong columns, double spread, double radius) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Factor made{{rows, columns}, {rows, columns}};
  for (slong i = 0; i < rows; ++i) {
    for (slong j = 0; j < columns; ++j) {
      const double value = normal(generator) * std::exp(spread * normal(generator));
      const double error = std::fabs(value) * radius * uniform(generator);
      made.balls.set(i, j, around(value, error));
      made.ends.set(i, j, Ball(value) + Ball(uniform(generator) < 0.5 ? -error : error));
    }
  }
  return made;
}

void expect_to_hold(const BallMatrix& product, const BallMatrix& exact) {
  for (slong i = 0; i < exact.rows(); ++i) {
    for (slong j = 0; j < exact.columns(); ++j) {
      EXPECT_NE(arb_contains(product.at(i, j).data(), exact.at(i, j).data()), 0) << i << ' ' << j;
    }
  }
}

TEST(RoundedProduct, HoldsTheProductsOfAllNumbers) {
  std::mt19937_64 generator(1);
  for (const slong columns : {1, 3, 50, 200}) {
    for (const double spread : {0.0, 3.0, 60.0}) {
      for (const double radius : {0.0, 1e-17, 1e-9, 0.5, 2.0}) {
        const Factor a = random_factor(generator, 5, columns, spread, radius);
        const Factor b = random_factor(generator, 4, columns, spread, radius);
        expect_to_hold(rounded_product(a.balls, b.balls), a.ends.times(b.ends.transposed()));
      }
    }
  }
}

// Arb's own precision is beyond a double's: 1 + 1e-30 is not rounded away.
TEST(RoundedProduct, HoldsWhatADoubleCannotSay) {
  BallMatrix a(1, 2), b(1, 2);
  a.set(0, 0, Ball(1.0) + Ball(1e-30));
  a.set(0, 1, -1.0);
  b.set(0, 0, 1.0);
  b.set(0, 1, Ball(1.0) - Ball(1e-30));
  expect_to_hold(rounded_product(a, b), a.times(b.transposed()));
  expect_to_hold(rounded_product(a, a), a.times(a.transposed()));
}

TEST(RoundedProduct, IsOffByRoundingAlone) {
  std::mt19937_64 generator(2);
  const Factor a = random_factor(generator, 3, 100, 1.0, 0.0);
  const BallMatrix product = rounded_product(a.balls, a.balls);
  for (slong i = 0; i < 3; ++i) {
    const Ball entry = product.at(i, i);
    EXPECT_LE(mag_get_d(arb_radref(entry.data())), 1e-13 * entry.about());
  }
}

TEST(RoundedProduct, SmallAndLargeNumbers) {
  BallMatrix a(3, 2), b(2, 2);
  a.set(0, 0, 0x1.0p-1074);
  a.set(0, 1, 1e-200);
  a.set(2, 0, Ball(1e300) * Ball(1e300));
  b.set(0, 0, 0x1.0p-1074);
  b.set(0, 1, 1e-200);
  const BallMatrix product = rounded_product(a, b);
  expect_to_hold(product, a.times(b.transposed()));
  // Rows of zeros are exact, in either factor, whatever they meet.
  for (slong j = 0; j < 2; ++j) EXPECT_TRUE(product.at(1, j).is_zero());
  for (slong i = 0; i < 3; ++i) EXPECT_TRUE(product.at(i, 1).is_zero());
  // Nothing is known of what a double does not hold.
  EXPECT_FALSE(product.at(2, 0).is_finite());
}

TEST(RoundedProduct, ASumThatOverflowsIsAnyNumber) {
  const double infinity = INFINITY;
  for (const double sum : {infinity, -infinity, std::nan("")}) {
    const Ball any = mixcert_check::around(sum, 1.0);
    EXPECT_FALSE(any.is_finite() || any.is_positive() || (-any).is_positive()) << sum;
  }
}

}  // namespace rounded_product_test
}  // namespace mixcert::testing
