// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (J.8) against the Wasserstein distance itself: random covariances that take finitely many values, whose
// mean, spread and expected Bures distance are plain sums.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <random>

#include "methods/joint/joint_noise.h"
#include "mixcert/transport/gaussian_transport.h"

namespace mixcert {
namespace truncated_noise_test {

struct RandomCovariance {
  std::vector<Matrix> values;  ///< equally likely

  [[nodiscard]] NoiseSpread noise() const {
    const Index n = values.front().rows();
    NoiseSpread noise{Matrix::Zero(n, n), 0.0, Matrix::Zero(n, n), 0.0};
    const auto count = static_cast<double>(values.size());
    for (const Matrix& s : values) noise.mean += s / count;
    for (const Matrix& s : values) noise.spread += (s - noise.mean) * (s - noise.mean) / count;
    noise.mean_error = 1e-13 * noise.mean.norm();
    noise.spread_error = 1e-13 * noise.spread.norm();
    return noise;
  }

  [[nodiscard]] double expected_cost(const Matrix& t) const {
    const Vector zero = Vector::Zero(t.rows());
    double sum = 0.0;
    for (const Matrix& s : values) sum += gelbrich_squared(zero, s, zero, t);
    return sum / static_cast<double>(values.size());
  }
};

/// Sums of `neurons` random rank-one matrices, with eigenvalues that fall by `decay` each.
RandomCovariance random_covariance(Index inputs, Index neurons, double decay, std::mt19937& generator) {
  std::normal_distribution<double> normal;
  RandomCovariance random;
  for (int i = 0; i < 40; ++i) {
    Matrix s = Matrix::Constant(inputs, inputs, 0.1);
    for (Index j = 0; j < neurons; ++j) {
      const Vector a = Vector::NullaryExpr(
          inputs, [&](Index d) { return normal(generator) * std::pow(decay, static_cast<double>(d)); });
      s += a * a.transpose() / static_cast<double>(neurons);
    }
    random.values.push_back(s);
  }
  return random;
}

TEST(TruncatedNoise, CostIsNeverBelowTheDistance) {
  std::mt19937 generator(1);
  for (int trial = 0; trial < 60; ++trial) {
    const Index inputs = 1 + trial % 8;
    const double decay = trial % 3 == 0 ? 1.0 : trial % 3 == 1 ? 0.4 : 0.05;
    const RandomCovariance random = random_covariance(inputs, 3 + trial, decay, generator);
    const TruncatedBlock made = truncated_block(random.noise());
    ASSERT_TRUE(std::isfinite(made.cost));
    EXPECT_GE(made.cost, random.expected_cost(made.block)) << "trial " << trial;
    EXPECT_EQ(Eigen::LLT<Matrix>(made.block).info(), Eigen::Success);
  }
}

TEST(TruncatedNoise, IsTheFullInverseWhereAllDirectionsMatter) {
  std::mt19937 generator(2);
  const NoiseSpread noise = random_covariance(4, 4000, 1.0, generator).noise();
  const TruncatedBlock made = truncated_block(noise);
  EXPECT_NEAR(made.cost, (noise.mean.inverse() * noise.spread).trace(), 1e-4 * made.cost);
  EXPECT_LT((made.block - noise.mean).norm(), 1e-9 * noise.mean.norm());
}

TEST(TruncatedNoise, DoesNotInvertWhatCarriesNothing) {
  std::mt19937 generator(3);
  const NoiseSpread noise = random_covariance(8, 50, 0.05, generator).noise();
  const double full = (noise.mean.inverse() * noise.spread).trace();
  EXPECT_LT(truncated_block(noise).cost, 0.5 * full);
}

TEST(TruncatedNoise, NothingIsClaimedOfNumbersThatOverflowed) {
  NoiseSpread noise{Matrix::Identity(2, 2), 0.0, Matrix::Identity(2, 2), 0.0};
  noise.spread(0, 1) = INFINITY;
  EXPECT_EQ(truncated_block(noise).cost, INFINITY);
  noise.spread.setZero();
  noise.mean.setZero();
  EXPECT_EQ(truncated_block(noise).cost, INFINITY);
}

}  // namespace truncated_noise_test
}  // namespace mixcert
