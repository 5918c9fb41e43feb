// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Samples of mixtures against the mixture's own moments.
#include <gtest/gtest.h>

#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/sample_statistics.h"
#include "support/random_laws.h"

namespace mixcert {
namespace sample_mixture_test {

using testing::kSigmas;
using testing::moment_z;
using testing::random_covariance;
using testing::random_matrix;

constexpr Index kSamples = 100000;

Covariance block_covariance(Generator& generator) {
  Matrix stacked(4, 2);
  stacked << random_covariance(generator, 2), random_covariance(generator, 2);
  return Covariance::block_diagonal(stacked);
}

TEST(SampleMixture, EveryStructureHasItsMoments) {
  Generator generator = make_generator(41, Stream::Example);
  const Matrix factor = random_matrix(generator, 4, 2);
  const Vector variances{{1.0, 0.0, 0.5, 2.0}};
  const std::vector<Covariance> covariances = {
      Covariance::zero(4),
      Covariance::diagonal(variances),
      Covariance::diagonal(variances).plus_low_rank(factor),
      Covariance::dense(random_covariance(generator, 4)),
      Covariance::dense(factor * factor.transpose()),
      block_covariance(generator),
      block_covariance(generator).plus_low_rank(factor),
  };
  for (std::size_t i = 0; i < covariances.size(); ++i) {
    const GaussianMixture gaussian({random_matrix(generator, 4, 1), covariances[i]});
    const Matrix samples = sample_mixture(gaussian, kSamples, 3, Stream::Mixture, i);
    EXPECT_LE(moment_z(samples, gaussian.mean(), gaussian.covariance()), kSigmas) << "structure " << i;
  }
}

TEST(SampleMixture, ComponentsOccurWithTheirWeights) {
  const std::vector<Gaussian> points = {{Vector{{0.0}}, Covariance::zero(1)},
                                        {Vector{{1.0}}, Covariance::zero(1)},
                                        {Vector{{2.0}}, Covariance::zero(1)},
                                        {Vector{{3.0}}, Covariance::zero(1)}};
  const Vector weights{{0.5, 0.0, 0.3, 0.2}};
  const GaussianMixture mixture(weights, points);
  const Matrix samples = sample_mixture(mixture, kSamples, 5, Stream::Mixture, 0);
  for (Index i = 0; i < 4; ++i) {
    const double share = static_cast<double>((samples.array() == static_cast<double>(i)).count()) / kSamples;
    EXPECT_NEAR(share, weights(i), 5.0 * std::sqrt(weights(i) / kSamples));
  }
}

TEST(SampleMixture, MixtureHasItsMoments) {
  Generator generator = make_generator(42, Stream::Example);
  const GaussianMixture mixture = testing::random_mixture(generator, 4, 3);
  const Matrix samples = sample_mixture(mixture, kSamples, 6, Stream::Mixture, 0);
  EXPECT_LE(moment_z(samples, mixture.mean(), mixture.covariance()), kSigmas);
}

TEST(SampleMixture, SamplesAreInNoOrder) {
  // Columns are independent: the first half has the moments of the whole.
  Generator generator = make_generator(43, Stream::Example);
  const GaussianMixture mixture = testing::random_mixture(generator, 4, 2);
  const Matrix samples = sample_mixture(mixture, kSamples, 7, Stream::Mixture, 0);
  EXPECT_LE(moment_z(samples.leftCols(kSamples / 2), mixture.mean(), mixture.covariance()), kSigmas);
}

TEST(SampleMixture, DependsOnSeedStreamAndIndexOnly) {
  Generator generator = make_generator(44, Stream::Example);
  const GaussianMixture mixture = testing::random_mixture(generator, 3, 2);
  const auto draw = [&](std::uint64_t seed, Stream stream, std::uint64_t index) {
    return sample_mixture(mixture, 10, seed, stream, index);
  };
  const Matrix reference = draw(1, Stream::Mixture, 0);
  EXPECT_EQ(draw(1, Stream::Mixture, 0), reference);
  EXPECT_NE(draw(2, Stream::Mixture, 0), reference);
  EXPECT_NE(draw(1, Stream::Floor, 0), reference);
  EXPECT_NE(draw(1, Stream::Mixture, 1), reference);
}

TEST(SampleMixture, RefusesBadInput) {
  EXPECT_THROW((void)sample_mixture(GaussianMixture(), 10, 0, Stream::Mixture, 0), InvalidArgument);
  const GaussianMixture point({Vector{{0.0}}, Covariance::zero(1)});
  EXPECT_THROW((void)sample_mixture(point, -1, 0, Stream::Mixture, 0), InvalidArgument);
  EXPECT_EQ(sample_mixture(point, 0, 0, Stream::Mixture, 0).cols(), 0);
}

}  // namespace sample_mixture_test
}  // namespace mixcert
