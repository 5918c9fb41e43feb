// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Distances of weight laws to the normal law, (W.2) - (W.5): against quadrature of the quantile formula in
// fifty digits, and against sorted samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/normal.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/network/weight_law.h"
#include "support/high_precision.h"

namespace mixcert {
namespace entry_law_test {

using Family = EntryLaw::Family;
using testing::Precise;

double distance(Family family, double degrees = 0.0) {
  return EntryLaw(family, degrees).squared_distance_to_normal();
}

/// 2 - 2 E[F^{-1}(Phi(Z)) Z] for Student's t of unit variance. The trapezoidal rule converges faster than any
/// power for integrands that are analytic on the whole line; s = (n log(1 + t^2/n))^{1/2} makes this one
/// decay like a normal density.
Precise student_reference(const Precise& degrees) {
  const boost::math::students_t_distribution<Precise> law(degrees);
  const Precise step = 0.125;
  Precise sum = 0;
  for (int i = 1; i * step < 17; ++i) {
    const Precise s = i * step;
    const Precise y = s * s / degrees;
    const Precise t = sqrt(degrees * expm1(y));
    const Precise slope = s * exp(y) / t;
    const Precise tail = cdf(complement(law, t));
    const Precise normal = sqrt(Precise(2)) * boost::math::erfc_inv(2 * tail);
    sum += pdf(law, t) * slope * t * normal;
  }
  return 2 - 4 * step * sum * sqrt((degrees - 2) / degrees);
}

/// E[X Z] = sqrt(2) int_0^inf phi(z)^2 / P(Z > z) dz, Simpson's rule.
Precise laplace_reference() {
  const int pieces = 4000;
  const Precise step = Precise(20) / pieces;
  Precise sum = 0;
  for (int i = 0; i <= pieces; ++i) {
    const Precise z = i * step;
    const int weight = i == 0 || i == pieces ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * testing::precise_density(z) * testing::precise_density(z) / testing::precise_tail(z);
  }
  return 2 - 2 * sqrt(Precise(2)) * sum * step / 3;
}

constexpr double kTightness = 4e-6;

class StudentDistance : public ::testing::TestWithParam<double> {};

TEST_P(StudentDistance, IsAboveTheExactOneAndClose) {
  const double bound = distance(Family::StudentT, GetParam());
  const Precise exact = student_reference(GetParam());
  EXPECT_GE(Precise(bound), exact);
  EXPECT_LE(Precise(bound), exact + kTightness);
  // Never more than four times the distance itself (W.5) from ten degrees on.
  if (GetParam() >= 10.0) {
    EXPECT_LE(Precise(bound), 17 * exact);
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, StudentDistance,
                         ::testing::Values(2.0 + 1e-9, 2.01, 2.1, 2.5, 3.0, std::sqrt(13.0), 5.0, 9.75, 30.0,
                                           100.0, 1234.5, 1e5, 1e6));

TEST(EntryLaw, DistancesOfUniformAndLaplace) {
  const Precise uniform = 2 - 2 * sqrt(3 / boost::math::constants::pi<Precise>());
  EXPECT_GE(Precise(distance(Family::Uniform)), uniform);
  EXPECT_LE(Precise(distance(Family::Uniform)), uniform + 1e-14);
  EXPECT_GE(Precise(distance(Family::Laplace)), laplace_reference());
  EXPECT_LE(Precise(distance(Family::Laplace)), laplace_reference() + kTightness);
  EXPECT_EQ(distance(Family::Normal), 0.0);
}

TEST(EntryLaw, ExtremeDegrees) {
  EXPECT_LE(distance(Family::StudentT, std::nextafter(2.0, 3.0)), 2.0);
  EXPECT_GE(distance(Family::StudentT, std::nextafter(2.0, 3.0)), 1.9999);
  const double huge = distance(Family::StudentT, 1e300);
  EXPECT_GT(huge, 0.0);
  EXPECT_LT(huge, 1e-300);
  EXPECT_GT(distance(Family::StudentT, std::numeric_limits<double>::infinity()), 0.0);
  double last = 2.0;
  for (double degrees = 2.05; degrees < 1e7; degrees *= 1.4) {
    const double now = distance(Family::StudentT, degrees);
    EXPECT_LT(now, last) << degrees;
    last = now;
  }
}

TEST(EntryLaw, RefusesInfiniteVariance) {
  for (const double degrees : {2.0, 1.0, 0.0, -3.0, std::nan("")}) {
    EXPECT_THROW(EntryLaw(Family::StudentT, degrees), InvalidArgument) << degrees;
  }
  EXPECT_EQ(EntryLaw(Family::Laplace, 7.0).degrees(), 0.0);
}

/// Squared distance of sorted draws from the normal quantiles.
template <class Draw>
double sorted_distance(const Draw& draw) {
  constexpr std::size_t kDraws = 400000;
  std::vector<double> sample(kDraws);
  for (double& x : sample) x = draw();
  std::sort(sample.begin(), sample.end());
  double sum = 0.0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const double normal = normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(kDraws));
    sum += (sample[i] - normal) * (sample[i] - normal);
  }
  return sum / static_cast<double>(kDraws);
}

TEST(EntryLaw, AgreesWithSortedSamples) {
  Generator generator = make_generator(3, Stream::Example);
  std::exponential_distribution<double> exponential;
  const auto laplace = [&] {
    const double size = std::sqrt(0.5) * exponential(generator);
    return uniform(generator) < 0.5 ? -size : size;
  };
  EXPECT_NEAR(sorted_distance(laplace), distance(Family::Laplace), 2e-3);
  const auto flat = [&] { return std::sqrt(3.0) * (2.0 * uniform(generator) - 1.0); };
  EXPECT_NEAR(sorted_distance(flat), distance(Family::Uniform), 1e-3);
  std::student_t_distribution<double> student(5.0);
  const auto heavy = [&] { return std::sqrt(0.6) * student(generator); };
  EXPECT_NEAR(sorted_distance(heavy), distance(Family::StudentT, 5.0), 5e-3);
}

}  // namespace entry_law_test
}  // namespace mixcert
