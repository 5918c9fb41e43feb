// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Empirical distance and lower bound for laws whose W2 is known. Seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_laws.h"

namespace mixcert {
namespace comparison_test {

GaussianMixture standard(Index dimension) {
  return GaussianMixture({Vector::Zero(dimension), Covariance::diagonal(Vector::Ones(dimension))});
}

GaussianMixture shifted(Index dimension, double shift, double deviation) {
  return GaussianMixture({Vector::Constant(dimension, shift),
                          Covariance::diagonal(Vector::Constant(dimension, deviation * deviation))});
}

/// W2 between the two laws above.
double exact_distance(Index dimension, double shift, double deviation) {
  return std::sqrt(static_cast<double>(dimension) * (shift * shift + (deviation - 1.0) * (deviation - 1.0)));
}

Matrix draw(const GaussianMixture& mixture, Index samples, std::uint64_t seed) {
  return sample_mixture(mixture, samples, seed, Stream::Example, 0);
}

TEST(EmpiricalDistance, OfALawToItselfLooksLikeTheFloor) {
  // In low dimension the estimator itself fluctuates by a factor; from three on it does not.
  for (const Index dimension : {1, 3, 6}) {
    const GaussianMixture law = standard(dimension);
    const EmpiricalDistance result = empirical_distance(draw(law, 500, 1), law, 1, 0);
    const double factor = dimension == 1 ? 4.0 : 1.2;
    EXPECT_GT(result.floor, 0.0);
    EXPECT_LT(result.distance, factor * result.floor);
    EXPECT_GT(result.distance, result.floor / factor);
  }
}

TEST(EmpiricalDistance, OfFarLawsIsTheirDistance) {
  const GaussianMixture law = standard(3);
  const EmpiricalDistance result = empirical_distance(draw(shifted(3, 4.0, 2.0), 500, 2), law, 1, 0);
  const double exact = exact_distance(3, 4.0, 2.0);
  EXPECT_NEAR(result.distance, exact, 0.05 * exact);
  EXPECT_LT(result.floor, 0.2 * exact);
}

TEST(EmpiricalDistance, IsReproducibleAndDependsOnTheStream) {
  const GaussianMixture law = standard(2);
  const Matrix samples = draw(law, 100, 3);
  const EmpiricalDistance result = empirical_distance(samples, law, 1, 0);
  EXPECT_EQ(empirical_distance(samples, law, 1, 0).distance, result.distance);
  EXPECT_NE(empirical_distance(samples, law, 1, 1).distance, result.distance);
  EXPECT_NE(empirical_distance(samples, law, 2, 0).floor, result.floor);
}

class LowerBound : public ::testing::TestWithParam<std::tuple<Index, Index>> {
 protected:
  Index dimension() const { return std::get<0>(GetParam()); }
  Index samples() const { return std::get<1>(GetParam()); }
};

TEST_P(LowerBound, OfALawToItselfIsZeroAndThePlugInIsNot) {
  const GaussianMixture law = standard(dimension());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const GelbrichLowerBound result = gelbrich_lower_bound(draw(law, samples(), seed), law, seed, 0);
    EXPECT_EQ(result.lower, 0.0) << "seed " << seed;
    EXPECT_GT(result.plug_in, 0.0);
    EXPECT_GT(result.bias, 0.0);
    EXPECT_EQ(result.confidence, 0.999);
  }
}

TEST_P(LowerBound, OfOtherLawsStaysBelowTheDistance) {
  const GaussianMixture law = standard(dimension());
  const double exact = exact_distance(dimension(), 1.0, 1.5);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Matrix drawn = draw(shifted(dimension(), 1.0, 1.5), samples(), seed);
    const GelbrichLowerBound result = gelbrich_lower_bound(drawn, law, seed, 0);
    EXPECT_LE(result.lower, exact) << "seed " << seed;
    EXPECT_DOUBLE_EQ(result.lower, std::max(0.0, result.plug_in - result.bias));
    if (samples() >= 1000) {
      EXPECT_GE(result.lower, 0.6 * exact) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LowerBound,
                         ::testing::Combine(::testing::Values<Index>(1, 3, 8),
                                            ::testing::Values<Index>(100, 1000, 10000)));

TEST(GelbrichLowerBound, PlugInIsBiasedUpwardByAboutTheBias) {
  // N(0, I) in ten dimensions against itself, 1e5 samples: 0.006 (Monte Carlo).
  const GaussianMixture law = standard(10);
  const GelbrichLowerBound result = gelbrich_lower_bound(draw(law, 100000, 1), law, 1, 0);
  const double relative = result.plug_in / std::sqrt(10.0);
  EXPECT_GT(relative, 0.003);
  EXPECT_LT(relative, 0.009);
  EXPECT_GT(result.bias, result.plug_in);
  EXPECT_LT(result.bias, 2.0 * result.plug_in);
}

TEST(GelbrichLowerBound, HigherConfidenceSubtractsMore) {
  const GaussianMixture law = standard(2);
  const Matrix samples = draw(shifted(2, 1.0, 1.0), 1000, 1);
  double previous = 0.0;
  for (const double confidence : {0.1, 0.5, 0.9, 0.99}) {
    const double bias = gelbrich_lower_bound(samples, law, 1, 0, confidence).bias;
    EXPECT_GT(bias, previous);
    previous = bias;
  }
}

TEST(GelbrichLowerBound, FarFromTheOriginNothingCancels) {
  // Samples around 1e7 with deviation 1: sums of raw squares would lose the covariance.
  const GaussianMixture law = shifted(2, 1e7, 1.0);
  const GelbrichLowerBound result = gelbrich_lower_bound(draw(law, 1000, 1), law, 1, 0);
  EXPECT_LT(result.plug_in, 0.2);
  EXPECT_EQ(result.lower, 0.0);
}

TEST(GelbrichLowerBound, TakesAnyNumberOfSamplesFromTwo) {
  const GaussianMixture law = standard(2);
  for (const Index samples : {2, 3, 5, 50, 199, 201, 350}) {
    const GelbrichLowerBound result = gelbrich_lower_bound(draw(law, samples, 1), law, 1, 0);
    EXPECT_TRUE(std::isfinite(result.lower));
    EXPECT_GT(result.bias, 0.0) << samples;
  }
}

TEST(Comparison, RefusesBadInput) {
  const GaussianMixture law = standard(2);
  Matrix bad = Matrix::Zero(2, 5);
  bad(1, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)gelbrich_lower_bound(Matrix::Zero(2, 1), law, 0, 0), InvalidArgument);
  EXPECT_THROW((void)gelbrich_lower_bound(Matrix::Zero(3, 5), law, 0, 0), InvalidArgument);
  EXPECT_THROW((void)gelbrich_lower_bound(bad, law, 0, 0), InvalidArgument);
  EXPECT_THROW((void)gelbrich_lower_bound(Matrix::Zero(2, 5), law, 0, 0, 1.0), InvalidArgument);
  EXPECT_THROW((void)empirical_distance(Matrix(2, 0), law, 0, 0), InvalidArgument);
  EXPECT_THROW((void)empirical_distance(bad, law, 0, 0), InvalidArgument);
}

}  // namespace comparison_test
}  // namespace mixcert
