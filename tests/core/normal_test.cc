// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The standard normal law against fifty-digit closed forms and Boost's chi-squared
// distribution: tails, narrow intervals, infinite ends, and the outward direction of
// normal_square_about.
#include "core/normal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "mixcert/core/rng.h"
#include "support/high_precision.h"
#include "support/matchers.h"

namespace mixcert {
namespace normal_test {

using testing::is_close;
using testing::Precise;
using testing::Tolerance;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double relative_error(double got, const Precise& expected) {
  if (expected == 0) return std::abs(got);
  return static_cast<double>(abs((Precise(got) - expected) / expected));
}

TEST(Normal, DensityAndTailsMatchFiftyDigits) {
  for (double x = -37.0; x <= 37.0; x += 0.37) {
    // exp(-x^2/2) inherits the rounding of x^2.
    const double tolerance = (4.0 + x * x) * kElementaryFunctionError;
    EXPECT_LE(relative_error(normal_density(x), testing::precise_density(x)), tolerance) << x;
    EXPECT_LE(relative_error(normal_tail(x), testing::precise_tail(x)), tolerance) << x;
    EXPECT_LE(relative_error(normal_cdf(x), testing::precise_tail(-x)), tolerance) << x;
  }
  EXPECT_EQ(normal_density(kInfinity), 0.0);
  EXPECT_EQ(normal_tail(kInfinity), 0.0);
  EXPECT_EQ(normal_cdf(kInfinity), 1.0);
}

TEST(Normal, QuantileInvertsTheDistributionFunction) {
  for (double exponent = -300.0; exponent <= -1.0; exponent += 1.7) {
    const double p = std::pow(10.0, exponent);
    // A relative error of the tail moves the quantile by that over |x|.
    EXPECT_LE(relative_error(p, testing::precise_tail(-Precise(normal_quantile(p)))), 2e-12) << p;
  }
  for (double p = 0.01; p < 0.995; p += 0.013) {
    EXPECT_LE(relative_error(p, testing::precise_tail(-Precise(normal_quantile(p)))), 1e-14) << p;
  }
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-16);
  EXPECT_EQ(normal_quantile(0.0), -kInfinity);
  EXPECT_EQ(normal_quantile(1.0), kInfinity);
  EXPECT_TRUE(std::isnan(normal_quantile(-0.1)));
  EXPECT_TRUE(std::isnan(normal_quantile(1.1)));
}

/// Intervals of all widths, in the middle and in the tails. For narrower ones the reference
/// itself runs out of digits: the second moment is about the cube of the width.
struct Interval {
  double center, lower, upper;
};

std::vector<Interval> random_intervals(int count) {
  Generator generator = make_generator(1, Stream::Example);
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const double width = std::pow(10.0, -11.0 + 12.5 * uniform(generator));
    const double lower = 34.0 * (2.0 * uniform(generator) - 1.0) * (i % 3 == 0 ? 1.0 : 0.2);
    Interval interval{0.0, lower, lower + width};
    const double place = uniform(generator);
    const double inside = lower + width * uniform(generator);
    interval.center = place < 0.6 ? inside : (place < 0.8 ? 0.5 * lower : 1e3 * (place - 0.9));
    intervals.push_back(interval);
  }
  for (const double x : {-30.0, -12.0, -3.0, 0.0, 0.2, 5.0, 30.0}) {
    intervals.push_back({x, -kInfinity, x});
    intervals.push_back({x, x, kInfinity});
    intervals.push_back({x, -kInfinity, kInfinity});
    intervals.push_back({x, x, x});
    intervals.push_back({x, x, x - 1.0});
  }
  return intervals;
}

Precise precise_square(const Interval& i) {
  return i.lower < i.upper ? testing::precise_square_about(i.center, i.lower, i.upper) : Precise(0);
}

// Scale on which rounding of the ends is felt: the interval's mass times the squared distance.
double scale_of(const Interval& i) { return 1.0 + std::max(i.lower * i.lower, i.upper * i.upper); }

TEST(Normal, MassOfIntervalsIsRelativelyAccurate) {
  for (const Interval& i : random_intervals(1000)) {
    const double got = normal_mass(i.lower, i.upper);
    if (!(i.lower < i.upper)) {
      EXPECT_EQ(got, 0.0);
      continue;
    }
    const double finite = std::isinf(i.lower) || std::isinf(i.upper) ? 1000.0 : scale_of(i);
    EXPECT_LE(relative_error(got, testing::precise_mass(i.lower, i.upper)), 2e-14 + finite * 4e-16)
        << i.lower << " " << i.upper;
  }
}

TEST(Normal, SquareAboutIsNeverBelowTheTruth) {
  for (const Interval& i : random_intervals(2500)) {
    const UpperBound got = normal_square_about(i.center, i.lower, i.upper);
    EXPECT_GE(Precise(got.upper), precise_square(i)) << i.center << " " << i.lower << " " << i.upper;
    EXPECT_GE(got.upper, got.nominal);
  }
}

TEST(Normal, ErrorsHoldOnBothSides) {
  const auto below = [](const UpperBound& got) {
    return Precise(got.nominal) - (Precise(got.upper) - got.nominal);
  };
  for (const Interval& i : random_intervals(500)) {
    EXPECT_LE(below(normal_square_about(i.center, i.lower, i.upper)), precise_square(i));
    if (!(i.lower < i.upper)) continue;
    // Centers of distances lie outside: at an end, or beyond it.
    for (const double center : {i.lower, i.upper, i.upper + 1.0, i.lower - 1e3}) {
      const UpperBound got = normal_distance_about(center, i.lower, i.upper);
      const Precise truth = abs(testing::precise_mean_about(center, i.lower, i.upper));
      if (std::isinf(center)) continue;
      EXPECT_GE(Precise(got.upper), truth) << center << " " << i.lower << " " << i.upper;
      EXPECT_LE(below(got), truth) << center << " " << i.lower << " " << i.upper;
    }
  }
}

TEST(Normal, SquareAboutIsAccurateOnNarrowCells) {
  for (const Interval& i : random_intervals(1000)) {
    if (!(i.upper - i.lower <= 0.5) || std::abs(i.lower) > 9.0) continue;
    const UpperBound got = normal_square_about(i.center, i.lower, i.upper);
    EXPECT_LE(relative_error(got.nominal, precise_square(i)), 1e-13) << i.center << " " << i.lower;
    EXPECT_LE(got.upper, got.nominal * (1.0 + 1e-12));
  }
}

TEST(Normal, SquareAboutIsAccurateOnTheWholeLine) {
  for (const double center : {-1e6, -3.0, 0.0, 0.7, 1e6}) {
    const UpperBound got = normal_square_about(center, -kInfinity, kInfinity);
    EXPECT_TRUE(is_close(got.nominal, 1.0 + center * center, Tolerance::rounding));
    EXPECT_TRUE(is_close(got.upper, 1.0 + center * center, Tolerance::rounding));
  }
}

TEST(Normal, NotANumberIsNeverTakenForAnEmptyInterval) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(normal_square_about(0.0, nan, 1.0).upper));
  EXPECT_TRUE(std::isnan(normal_square_about(nan, 0.0, 1.0).upper));
  EXPECT_TRUE(std::isnan(normal_mass(nan, 1.0)));
}

TEST(Normal, FarFiniteEndsDoNotBlurTheRest) {
  for (const double far : {50.0, 1e6, 1e200}) {
    const UpperBound got = normal_square_about(0.5, -far, far);
    EXPECT_TRUE(is_close(got.upper, 1.25, Tolerance::rounding)) << far;
  }
}

TEST(Normal, MeanAboutMatchesFiftyDigits) {
  for (const Interval& i : random_intervals(1000)) {
    if (!(i.lower < i.upper) || std::max(std::abs(i.lower), std::abs(i.center)) > 12.0) continue;
    const Precise expected = testing::precise_mean_about(i.center, i.lower, i.upper);
    // Relative to E|Z - center| up to rounding of the closed form.
    const double scale =
        static_cast<double>(sqrt(precise_square(i) * testing::precise_mass(i.lower, i.upper)));
    const double nearest = std::clamp(0.0, i.lower, i.upper);
    const double floor = i.upper - i.lower > 0.4 ? 1e-14 * normal_density(nearest) : 0.0;
    EXPECT_NEAR(normal_mean_about(i.center, i.lower, i.upper), static_cast<double>(expected),
                3e-14 * scale + (1.0 + std::abs(i.center)) * floor)
        << i.center << " " << i.lower << " " << i.upper;
  }
}

TEST(Normal, BallProbabilityIsTheChiSquaredDistribution) {
  for (const Index dimension : {1, 2, 3, 7, 10, 64, 129, 784}) {
    const boost::math::chi_squared law(static_cast<double>(dimension));
    for (double factor = 0.0; factor <= 2.0; factor += 0.1) {
      const double radius = factor * std::sqrt(static_cast<double>(dimension));
      EXPECT_NEAR(normal_ball_probability(radius, dimension), boost::math::cdf(law, radius * radius), 1e-12)
          << dimension << " " << radius;
    }
  }
}

}  // namespace normal_test
}  // namespace mixcert
