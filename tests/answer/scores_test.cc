// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sampled means (U.10) against laws whose expectation is known.
#include <gtest/gtest.h>

#include "mixcert/answer/sampled_mean.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"

namespace mixcert {
namespace {

Matrix bernoulli(double mean, Index samples, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example);
  return Matrix::NullaryExpr(1, samples, [&] { return uniform(generator) < mean ? 1.0 : 0.0; });
}

TEST(SampledMean, MissesNoMoreOftenThanSaid) {
  for (const double mean : {0.5, 0.1, 0.003}) {
    int missed = 0;
    double width = 0.0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      const Interval interval = sampled_means(bernoulli(mean, 400, seed), 0.05).front();
      EXPECT_LE(interval.lower, interval.estimate);
      EXPECT_GE(interval.upper, interval.estimate);
      if (!interval.contains(mean)) ++missed;
      width += interval.width() / 1000.0;
    }
    // 50 expected where the bounds were exact; they are not, but near it.
    EXPECT_LE(missed, 50) << mean;
    EXPECT_LT(width, 8.0 * std::sqrt(mean * (1.0 - mean) / 400.0) + 0.02) << mean;
  }
}

TEST(SampledMean, NarrowWhereValuesHardlyVary) {
  Generator generator = make_generator(1, Stream::Example);
  const Matrix values = Matrix::NullaryExpr(2, 100000, [&] { return 0.4 + 1e-3 * uniform(generator); });
  for (const Interval& interval : sampled_means(values, 1e-9)) {
    EXPECT_TRUE(interval.contains(0.4005));
    EXPECT_LT(interval.width(), 1.5e-3);
  }
}

TEST(SampledMean, ConstantsAndEnds) {
  Matrix values = Matrix::Zero(2, 100000);
  values.row(1).setOnes();
  const std::vector<Interval> means = sampled_means(values, 1e-9);
  EXPECT_EQ(means[0].lower, 0.0);
  // log(1/failure)/n: failure spread over two functions, two sides, two bounds.
  EXPECT_NEAR(means[0].upper, std::log(8e9) / 1e5, 1e-7);
  EXPECT_EQ(means[1].upper, 1.0);
  EXPECT_NEAR(means[1].lower, 1.0 - means[0].upper, 1e-12);
}

TEST(SampledMean, RefusesWhatIsNotInUnitInterval) {
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 5, 1.5), 0.1), InvalidArgument);
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 5, std::nan("")), 0.1), InvalidArgument);
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 1, 0.5), 0.1), InvalidArgument);
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 5, 0.5), 0.0), InvalidArgument);
}

}  // namespace
}  // namespace mixcert
