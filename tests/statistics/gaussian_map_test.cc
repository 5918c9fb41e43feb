// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mapped samples have the target's law, and regular Gaussians are coupled at the cost of W2.
#include <gtest/gtest.h>

#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/gaussian_transport.h"
#include "statistics/coupled_simulation.h"
#include "statistics/sample_statistics.h"
#include "support/random_laws.h"

namespace mixcert {
namespace gaussian_map_test {

constexpr Index kDimension = 5;
constexpr Index kSamples = 20000;

enum class Kind { Diagonal, Dense, SingularDiagonal, SingularDense, LowRank, Zero };

Gaussian random_gaussian(Kind kind, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example);
  const Vector mean = testing::random_matrix(generator, kDimension, 1);
  Vector variances = testing::random_matrix(generator, kDimension, 1).cwiseAbs2();
  const Matrix factor = testing::random_matrix(generator, kDimension, kDimension);
  switch (kind) {
    case Kind::Diagonal:
      return {mean, Covariance::diagonal(variances)};
    case Kind::Dense:
      return {mean, Covariance::dense(factor * factor.transpose())};
    case Kind::SingularDiagonal:
      variances(1) = variances(3) = 0.0;
      return {mean, Covariance::diagonal(variances)};
    case Kind::SingularDense:
      return {mean, Covariance::dense(factor.leftCols(2) * factor.leftCols(2).transpose())};
    case Kind::LowRank:
      return {mean, Covariance::diagonal(variances).plus_low_rank(factor.leftCols(2))};
    case Kind::Zero:
      break;
  }
  return {mean, Covariance::zero(kDimension)};
}

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = {Kind::Diagonal,      Kind::Dense,   Kind::SingularDiagonal,
                                          Kind::SingularDense, Kind::LowRank, Kind::Zero};
  return kinds;
}

class GaussianMapBetween : public ::testing::TestWithParam<std::tuple<Kind, Kind>> {};

TEST_P(GaussianMapBetween, HasTheTargetsLawAndTheOptimalCost) {
  const Gaussian from = random_gaussian(std::get<0>(GetParam()), 1);
  const Gaussian to = random_gaussian(std::get<1>(GetParam()), 2);
  const Matrix samples = sample_mixture(GaussianMixture(from), kSamples, 7, Stream::Example, 0);
  Generator generator = make_generator(9, Stream::Example);
  const Matrix moved = GaussianMap(from, to).apply(samples, generator);
  EXPECT_LE(testing::moment_z(moved, to.mean, to.covariance.to_dense()), testing::kSigmas);

  const Vector costs = (moved - samples).colwise().squaredNorm();
  const double mean = costs.mean();
  const double error = std::sqrt((costs.array() - mean).square().mean() / kSamples);
  const double exact =
      gelbrich_squared(from.mean, from.covariance.to_dense(), to.mean, to.covariance.to_dense());
  EXPECT_NEAR(mean, exact, testing::kSigmas * error + 1e-6 * exact);
}

INSTANTIATE_TEST_SUITE_P(Kinds, GaussianMapBetween,
                         ::testing::Combine(::testing::ValuesIn(all_kinds()),
                                            ::testing::ValuesIn(all_kinds())));

}  // namespace gaussian_map_test
}  // namespace mixcert
