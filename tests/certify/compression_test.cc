// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Compression: k-means is deterministic and sensible, moments are kept, the plan couples.
#include "methods/compression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace compression_test {

using testing::is_close;
using testing::Structure;
using testing::Tolerance;

GaussianMixture make_mixture(Generator& generator, Structure structure, Index size) {
  std::vector<Gaussian> components;
  for (Index i = 0; i < size; ++i) {
    components.push_back(
        {testing::random_matrix(generator, 6, 1), testing::random_structured(generator, structure, 6)});
  }
  Vector weights = testing::random_weights(generator, size);
  if (size > 3) weights(2) = 0.0;  // weightless components are normal input
  return {weights / weights.sum(), std::move(components)};
}

/// Marginals of the plan are the weights, and every component goes whole to one cluster.
void expect_valid_plan(const GaussianMixture& before, const CompressionTrace& after) {
  Vector sources = Vector::Zero(before.size());
  Vector targets = Vector::Zero(after.after.size());
  ASSERT_EQ(static_cast<Index>(after.plan.size()), before.size());
  for (const PlanEntry& entry : after.plan) {
    ASSERT_GE(entry.source, 0);
    ASSERT_LT(entry.source, before.size());
    ASSERT_GE(entry.target, 0);
    ASSERT_LT(entry.target, after.after.size());
    sources(entry.source) += entry.mass;
    targets(entry.target) += entry.mass;
  }
  EXPECT_TRUE(is_close(Matrix(sources), Matrix(before.weights()), Tolerance::rounding));
  EXPECT_TRUE(is_close(Matrix(targets), Matrix(after.after.weights()), Tolerance::rounding));
}

class Compression : public ::testing::TestWithParam<std::tuple<Structure, Index, Index>> {};

TEST_P(Compression, KeepsMomentsAndCouples) {
  const auto [structure, size, count] = GetParam();
  Generator generator = make_generator(91, Stream::Example);
  const GaussianMixture mixture = make_mixture(generator, structure, size);
  Vector metric = testing::random_matrix(generator, 6, 1).cwiseAbs();
  metric(0) = 0.0;
  const Sealed<CompressionTrace> got = compress(mixture, count, metric, 5);
  EXPECT_LE(got->after.size(), std::min(count, size));
  EXPECT_TRUE(testing::is_valid_mixture(got->after));
  EXPECT_TRUE(is_close(Matrix(got->after.mean()), Matrix(mixture.mean()), Tolerance::linear_algebra));
  EXPECT_TRUE(is_close(got->after.covariance(), mixture.covariance(), Tolerance::linear_algebra));
  EXPECT_EQ(got->after.component(0).covariance.block_size(), mixture.component(0).covariance.block_size());
  expect_valid_plan(mixture, *got);
}

TEST_P(Compression, IsDeterministicForASeed) {
  const auto [structure, size, count] = GetParam();
  Generator generator = make_generator(92, Stream::Example);
  const GaussianMixture mixture = make_mixture(generator, structure, size);
  const Sealed<CompressionTrace> a = compress(mixture, count, Vector::Ones(6), 3);
  const Sealed<CompressionTrace> b = compress(mixture, count, Vector::Ones(6), 3);
  EXPECT_EQ(a->after.weights(), b->after.weights());
  ASSERT_EQ(a->plan.size(), b->plan.size());
  for (std::size_t i = 0; i < a->plan.size(); ++i) EXPECT_EQ(a->plan[i].target, b->plan[i].target);
}

INSTANTIATE_TEST_SUITE_P(Schemes, Compression,
                         ::testing::Combine(::testing::Values(Structure::Zero, Structure::Diagonal,
                                                              Structure::DiagonalLowRank,
                                                              Structure::BlocksLowRank, Structure::Dense),
                                            ::testing::Values(1, 2, 7, 40), ::testing::Values(1, 2, 5, 100)),
                         [](const auto& tested) {
                           return testing::to_string(std::get<0>(tested.param)) + "_" +
                                  std::to_string(std::get<1>(tested.param)) + "_to_" +
                                  std::to_string(std::get<2>(tested.param));
                         });

TEST(Compression, KeepsAllDistinctComponentsWhenAllowed) {
  Generator generator = make_generator(93, Stream::Example);
  std::vector<Gaussian> components;
  for (int i = 0; i < 6; ++i) {
    components.push_back({testing::random_matrix(generator, 2, 1), Covariance::diagonal(Vector::Ones(2))});
  }
  const GaussianMixture mixture(Vector::Constant(6, 1.0 / 6.0), components);
  for (const Index count : {6, 7, 60}) {
    const Sealed<CompressionTrace> got = compress(mixture, count, Vector::Ones(2), 1);
    ASSERT_EQ(got->after.size(), 6);
    for (Index i = 0; i < 6; ++i) EXPECT_EQ(got->after.component(i).mean, mixture.component(i).mean);
  }
}

TEST(Compression, MergesDuplicates) {
  const Gaussian a{Vector::Zero(2), Covariance::diagonal(Vector::Ones(2))};
  const Gaussian b{Vector::Ones(2), Covariance::diagonal(Vector::Ones(2))};
  const GaussianMixture mixture(Vector::Constant(4, 0.25), {a, b, a, b});
  const Sealed<CompressionTrace> got = compress(mixture, 3, Vector::Ones(2), 0);
  ASSERT_EQ(got->after.size(), 2);
  EXPECT_TRUE(is_close(Matrix(got->after.weights()), Matrix::Constant(2, 1, 0.5), 1e-15));
  EXPECT_TRUE(is_close(got->after.component(0).covariance.to_dense(), Matrix::Identity(2, 2), 1e-15));
}

TEST(WeightedKMeans, FindsSeparatedClustersAndNumbersThemByFirstMember) {
  Generator generator = make_generator(94, Stream::Example);
  Matrix points(2, 30);
  for (Index i = 0; i < 30; ++i) {
    points.col(i) = 0.1 * testing::random_matrix(generator, 2, 1) +
                    Vector::Constant(2, 100.0 * static_cast<double>((i * 7) % 3));
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Index> cluster = weighted_k_means(points, Vector::Constant(30, 1.0 / 30.0), 3, seed);
    Index largest = -1;
    for (Index i = 0; i < 30; ++i) {
      const Index c = cluster[static_cast<std::size_t>(i)];
      EXPECT_LE(c, largest + 1);
      largest = std::max(largest, c);
      EXPECT_EQ(c, cluster[static_cast<std::size_t>(i % 3)]);
    }
    EXPECT_EQ(largest, 2);
  }
}

TEST(WeightedKMeans, EveryPointIsWithItsNearestCentre) {
  Generator generator = make_generator(95, Stream::Example);
  const Matrix points = testing::random_matrix(generator, 3, 60);
  const Vector weights = testing::random_weights(generator, 60);
  const std::vector<Index> cluster = weighted_k_means(points, weights, 5, 2);
  Matrix centres = Matrix::Zero(3, 5);
  Vector mass = Vector::Zero(5);
  for (Index i = 0; i < 60; ++i) {
    centres.col(cluster[static_cast<std::size_t>(i)]) += weights(i) * points.col(i);
    mass(cluster[static_cast<std::size_t>(i)]) += weights(i);
  }
  for (Index c = 0; c < 5; ++c) centres.col(c) /= mass(c);
  for (Index i = 0; i < 60; ++i) {
    Index nearest = 0;
    (centres.colwise() - points.col(i)).colwise().squaredNorm().minCoeff(&nearest);
    EXPECT_EQ(cluster[static_cast<std::size_t>(i)], nearest);
  }
}

TEST(WeightedKMeans, RefusesNonsense) {
  EXPECT_THROW((void)weighted_k_means(Matrix::Zero(2, 3), Vector::Ones(3), 0, 0), InvalidArgument);
  EXPECT_THROW((void)weighted_k_means(Matrix::Zero(2, 0), Vector(0), 1, 0), InvalidArgument);
  EXPECT_THROW((void)weighted_k_means(Matrix::Zero(2, 3), Vector::Ones(2), 1, 0), InvalidArgument);
}

}  // namespace compression_test
}  // namespace mixcert
