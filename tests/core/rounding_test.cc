// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Outward rounding: whatever is computed with Upper is no smaller than the same expression
// of the upper ends in fifty digits, and not much larger.
#include "mixcert/core/rounding.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "mixcert/core/rng.h"

namespace mixcert {
namespace rounding_test {

using Precise = boost::multiprecision::cpp_bin_float_100;

/// A positive double of any magnitude between 10^-range and 10^range.
double random_positive(Generator& generator, double range) {
  return std::pow(10.0, range * (2.0 * uniform(generator) - 1.0)) * (1.0 + uniform(generator));
}

TEST(Rounding, OperationsAreNeverBelowTheExactResult) {
  Generator generator = make_generator(7, Stream::Example);
  for (int i = 0; i < 20000; ++i) {
    const double range = i % 4 == 0 ? 150.0 : 5.0;
    const UpperBound a = UpperBound::exact(random_positive(generator, range));
    const UpperBound b = UpperBound::exact(random_positive(generator, range));
    EXPECT_GE(Precise((a + b).upper), Precise(a.upper) + Precise(b.upper));
    EXPECT_GE(Precise((a * b).upper), Precise(a.upper) * Precise(b.upper));
    EXPECT_GE(Precise(sqrt(a).upper) * Precise(sqrt(a).upper), Precise(a.upper));
    EXPECT_LE((a + b).upper, (a + b).nominal * (1.0 + 4 * kUnitRoundoff));
  }
}

TEST(Rounding, NeighboursAreThoseOfTheLibrary) {
  using Limits = std::numeric_limits<double>;
  const double infinity = Limits::infinity();
  Generator generator = make_generator(9, Stream::Example);
  std::vector<double> numbers = {0.0, Limits::denorm_min(), Limits::min(), 1.0, Limits::max(), infinity};
  for (int i = 0; i < 1000; ++i) numbers.push_back(random_positive(generator, 300.0));
  for (const double positive : numbers) {
    for (const double x : {positive, -positive}) {
      EXPECT_EQ(next_up(x), std::nextafter(x, infinity)) << x;
      EXPECT_EQ(next_down(x), std::nextafter(x, -infinity)) << x;
    }
  }
  EXPECT_TRUE(std::isnan(next_up(Limits::quiet_NaN())));
  EXPECT_TRUE(std::isnan(next_down(Limits::quiet_NaN())));
}

TEST(Rounding, ChainsOfOperationsStayAboveAndClose) {
  Generator generator = make_generator(8, Stream::Example);
  for (int trial = 0; trial < 300; ++trial) {
    UpperBound value = UpperBound::exact(random_positive(generator, 2.0));
    Precise exact = value.upper;
    for (int step = 0; step < 40; ++step) {
      const double operand = random_positive(generator, 1.0);
      const auto choice = generator() % 3;
      if (choice == 0) {
        value = value + UpperBound::exact(operand);
        exact += operand;
      } else if (choice == 1) {
        value = value * UpperBound::exact(operand);
        exact *= operand;
      } else {
        value = sqrt(value);
        exact = sqrt(exact);
      }
    }
    EXPECT_GE(Precise(value.upper), exact);
    EXPECT_LE(value.inflation(), 1e-13 * value.nominal);
    EXPECT_GE(value.upper, value.nominal);
  }
}

TEST(Rounding, UnderflowAndOverflowRoundOutward) {
  const UpperBound tiny = UpperBound::exact(1e-200);
  EXPECT_EQ((tiny * tiny).nominal, 0.0);
  EXPECT_GT((tiny * tiny).upper, 0.0);
  const UpperBound huge = UpperBound::exact(1e200);
  EXPECT_EQ((huge * huge).upper, std::numeric_limits<double>::infinity());
  EXPECT_GE(sqrt(UpperBound::exact(0.0)).upper, 0.0);
}

TEST(Rounding, SumsAreBoundedByTheirOperationCount) {
  Generator generator = make_generator(9, Stream::Example);
  for (int trial = 0; trial < 50; ++trial) {
    const Index count = 1 + static_cast<Index>(generator() % 5000);
    double sum = 0.0;
    Precise exact = 0;
    for (Index i = 0; i < count; ++i) {
      const double term = random_positive(generator, 3.0);
      sum += term;
      exact += term;
    }
    EXPECT_GE(Precise(UpperBound::of_sum(sum, count).upper), exact);
  }
}

TEST(Rounding, GammaIsAnUpperBoundOfItsFormula) {
  const Precise u = Precise(1) / (Precise(1ULL << 53U));
  for (const Index n : {0, 1, 2, 3, 10, 1000, 123457, 100000000}) {
    const Precise exact = n * u / (1 - n * u);
    EXPECT_GE(Precise(rounding_gamma(n)), exact) << n;
    EXPECT_LE(Precise(rounding_gamma(n)), exact * (1 + 8 * u) + Precise(1e-300)) << n;
  }
}

TEST(Rounding, WithinCoversTheErrorAndMinTakesTheSmallerBound) {
  Generator generator = make_generator(10, Stream::Example);
  for (int i = 0; i < 5000; ++i) {
    const double value = random_positive(generator, 3.0);
    const double error = random_positive(generator, 20.0);
    EXPECT_GE(Precise(UpperBound::within(value, error).upper), Precise(value) + Precise(error));
  }
  const UpperBound loose{1.0, 3.0};
  const UpperBound tight{2.0, 2.5};
  EXPECT_EQ(min(loose, tight).upper, 2.5);
  EXPECT_EQ(min(tight, loose).nominal, 2.0);
}

TEST(Rounding, PositivePartsAndLargerOnesKeepNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = INFINITY;
  EXPECT_TRUE(std::isnan(positive_part(nan)));
  EXPECT_EQ(positive_part(-infinity), 0.0);
  EXPECT_EQ(positive_part(infinity), infinity);
  EXPECT_FALSE(std::signbit(positive_part(-0.0)));
  EXPECT_TRUE(std::isnan(larger_or_nan(nan, 1.0)));
  EXPECT_TRUE(std::isnan(larger_or_nan(1.0, nan)));
  Generator generator = make_generator(11, Stream::Example);
  for (Index size = 1; size <= 9; ++size) {  // with and without a remainder beside full registers
    for (Index place = 0; place < size; ++place) {
      Vector x(size), y(size);
      for (double& value : x) value = random_positive(generator, 3.0) - 1.0;
      for (double& value : y) value = random_positive(generator, 3.0) - 1.0;
      for (Index i = 0; i < size; ++i) {
        EXPECT_EQ(positive_part(x(i)), std::max(0.0, x(i)));
        EXPECT_EQ(larger_or_nan(x(i), y(i)), std::max(x(i), y(i)));
      }
      EXPECT_EQ(positive_part(x), x.cwiseMax(0.0));
      EXPECT_EQ(larger_or_nan(x, y), x.cwiseMax(y));
      EXPECT_EQ(larger_or_nan(x, 0.5), x.cwiseMax(0.5));
      x(place) = nan;
      for (const Vector& made : {Vector(positive_part(x)), Vector(positive_part(x.array())),
                                 larger_or_nan(x, y), larger_or_nan(y, x), larger_or_nan(x, 0.5)}) {
        for (Index i = 0; i < size; ++i) EXPECT_EQ(std::isnan(made(i)), i == place) << size;
      }
    }
  }
}

}  // namespace rounding_test
}  // namespace mixcert
