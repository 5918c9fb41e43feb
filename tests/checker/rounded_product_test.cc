// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (I.6), (I.7): balls of a product hold the products of all numbers of their factors' balls.
#include "checker/rounded_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "checker/activation_law.h"

namespace mixcert::testing {
namespace rounded_product_test {

using mixcert_check::around;
using mixcert_check::Ball;
using mixcert_check::BallMatrix;
using mixcert_check::Balls;
using mixcert_check::DoubleBall;
using mixcert_check::DoubleMatrix;

BallMatrix rounded_product(const BallMatrix& a, const BallMatrix& b) {
  const DoubleMatrix left(a);
  return &a == &b ? rounded_product(left, left).in_balls()
                  : rounded_product(left, DoubleMatrix(b)).in_balls();
}

bool holds(const Ball& ball, const Ball& exact) { return arb_contains(ball.data(), exact.data()) != 0; }

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

TEST(RoundedProduct, WithAVectorAndWithItself) {
  std::mt19937_64 generator(3);
  for (const slong columns : {1, 9, 200}) {
    for (const double radius : {0.0, 1e-9, 2.0}) {
      const Factor a = random_factor(generator, 19, columns, 3.0, radius);
      expect_to_hold(rounded_product(a.balls, a.balls), a.ends.times(a.ends.transposed()));
      const Factor x = random_factor(generator, 1, columns, 3.0, radius);
      Balls vector, ends;
      for (slong j = 0; j < columns; ++j) {
        vector.push_back(x.balls.at(0, j));
        ends.push_back(x.ends.at(0, j));
      }
      const Balls product = DoubleMatrix(a.balls).times(vector), exact = a.ends.times(ends);
      for (std::size_t i = 0; i < product.size(); ++i) EXPECT_TRUE(holds(product[i], exact[i])) << i;
    }
  }
}

TEST(DoubleBall, HoldsSumsAndProductsOfAllNumbers) {
  std::mt19937_64 generator(4);
  std::uniform_int_distribution<int> size(0, 6);
  const double sizes[] = {1.0, 3e-9, 1e160, 1e-160, 1e-308, 0x1.0p-1074, 0.0};
  for (int i = 0; i < 20000; ++i) {
    const Factor f = random_factor(generator, 1, 2, 0.0, i % 2 == 0 ? 0.0 : 1.5);
    Ball balls[2], ends[2];
    for (slong j = 0; j < 2; ++j) {
      const double unit = sizes[size(generator)];
      balls[j] = f.balls.at(0, j) * Ball(unit);
      ends[j] = f.ends.at(0, j) * Ball(unit);
    }
    const DoubleBall a(balls[0]), b(balls[1]);
    EXPECT_TRUE(holds((a + b).ball(), ends[0] + ends[1])) << i;
    EXPECT_TRUE(holds((a * b).ball(), ends[0] * ends[1])) << i;
    EXPECT_TRUE(holds(absolute(a).ball(), mixcert_check::absolute(ends[0]))) << i;
  }
}

TEST(DoubleBall, NothingIsKnownOfWhatOverflows) {
  const double infinity = INFINITY;
  const DoubleBall zero, large(1e300, 0.0), any(0.0, infinity);
  for (const DoubleBall& value : {large * large, zero * any, any * zero, large * large + zero,
                                  zero * (large * large), any + large, absolute(any)}) {
    const Ball ball = value.ball();
    EXPECT_FALSE(ball.is_finite() || ball.is_positive() || (-ball).is_positive());
  }
}

/// What is summed over pairs of neurons, in doubles and in Arb's balls.
TEST(DoubleBall, PairsOfNeuronsAreThoseOfBalls) {
  std::mt19937_64 generator(5);
  const Factor root = random_factor(generator, 12, 12, 0.0, 0.0),
               rows = random_factor(generator, 3, 12, 0.0, 0.0);
  const BallMatrix covariance = root.balls.times(root.balls.transposed());
  mixcert_check::GaussianLaw law{{}, {}, covariance};
  for (slong i = 0; i < 12; ++i) {
    law.mean.push_back(root.balls.at(0, i));
    law.variances.push_back(covariance.at(i, i));
  }
  for (const char* function : {"relu", "tanh"}) {
    const auto entry =
        mixcert_check::Json::parse(std::string(R"({"type":"activation","function":")") + function + "\"}");
    const mixcert_check::ActivationLaw both(law, mixcert_check::Activation::of(entry), {},
                                            {.exact = true, .rounded = true});
    const Ball exact = both.hermite_form(covariance, both.linear),
               rounded = both.hermite_form(DoubleMatrix(covariance), both.linear);
    EXPECT_TRUE(holds(rounded, exact));
    EXPECT_LE(upper_end(rounded), upper_end(exact) * (1.0 + 1e-11));
    const BallMatrix squares = rows.balls.squared_entries();
    const Balls variances = both.variances_of_squares(squares),
                in_doubles = both.variances_of_squares(DoubleMatrix(squares));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(holds(in_doubles[i], variances[i])) << i;
      EXPECT_LE(upper_end(in_doubles[i]), upper_end(variances[i]) * (1.0 + 1e-11)) << i;
    }
  }
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
