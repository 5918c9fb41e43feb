// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (N.8): the combined row against sums over the covariances of all pairs of entries.
#include <gtest/gtest.h>

#include <string>

#include "mixcert/core/error.h"
#include "mixcert/network/ensemble.h"
#include "support/matchers.h"
#include "support/naive_layer.h"
#include "support/random_network.h"

namespace mixcert {
namespace combined_output_test {

using testing::WeightFamily;

std::vector<WeightFamily> families() {
  std::vector<WeightFamily> all = testing::all_weight_families();
  all.push_back(WeightFamily::LowRankWithBias);
  return all;
}

TEST(CombinedOutput, HasTheLawOfTheSum) {
  Generator generator = make_generator(31, Stream::Example);
  for (const WeightFamily family : families()) {
    for (const testing::BiasFamily bias : testing::all_bias_families()) {
      SCOPED_TRACE(to_string(family) + to_string(bias));
      const DenseLayer layer = testing::random_layer(generator, {family, bias, 3, 4, 1.0, 0.5});
      Vector w = testing::random_matrix(generator, 4, 1);
      w(1) = 0.0;
      const Network network = combined_output(Network({layer}, {Activation()}), w);
      const DenseLayer& row = network.layer(0);
      ASSERT_EQ(row.outputs(), 1);
      EXPECT_TRUE(testing::is_close(row.weight_mean(), Matrix(w.transpose() * layer.weight_mean()),
                                    testing::Tolerance::linear_algebra));
      const Matrix all = testing::naive_entry_covariance(layer), one = testing::naive_entry_covariance(row);
      Matrix expected = Matrix::Zero(4, 4);
      for (Index i = 0; i < 4; ++i) {
        for (Index k = 0; k < 4; ++k) expected += w(i) * w(k) * all.block(i * 4, k * 4, 4, 4);
      }
      EXPECT_LT((one - expected).norm(), 1e-12 * (1.0 + expected.norm()));
    }
  }
}

TEST(CombinedOutput, SharedWeightsAddUp) {
  // Rows 0 and 1 have parameter 0 at columns 0 and 1; the bias of row 1 is parameter 1.
  const SharedWeights law{Vector::Constant(2, 4.0), {{0, 0, 0}, {1, 1, 0}, {1, 2, 1}}, 0};
  const DenseLayer layer("l", Matrix::Ones(2, 2), Vector::Zero(2), law, DeterministicBias{});
  const Vector w = (Vector(2) << 1.0, -2.0).finished();
  const Network network = combined_output(Network({layer}, {Activation()}), w);
  const Vector f0 = (Vector(3) << 1.0, -2.0, 0.0).finished(), f1 = (Vector(3) << 0.0, 0.0, -2.0).finished();
  const Matrix expected = 4.0 * (f0 * f0.transpose() + f1 * f1.transpose());
  EXPECT_LT((testing::naive_entry_covariance(network.layer(0)) - expected).norm(), 1e-12);
}

/// Numbers that cancel: the difference is what is left of them, not rounding.
TEST(CombinedOutput, KeepsWhatCancellationLeaves) {
  const Matrix mean = (Matrix(3, 1) << 1e10, 1e-8, -1e10).finished();
  const Vector bias = (Vector(3) << -3e12, 2e-6, 3e12).finished();
  const DenseLayer layer("l", mean, bias, DeterministicWeights{}, IndependentBias{Vector::Ones(3)});
  const Network sum = combined_output(Network({layer}, {Activation()}), Vector::Ones(3));
  EXPECT_EQ(sum.layer(0).weight_mean()(0, 0), 1e-8);
  EXPECT_EQ(sum.layer(0).bias_mean()(0), 2e-6);
  // Two outputs with the same weights: their difference has no noise but what rounding leaves.
  const FullWeights same{Matrix::Constant(2, 2, 1.0) + 1e-12 * Matrix::Identity(2, 2)};
  const DenseLayer copies("l", Matrix::Ones(2, 1), Vector::Zero(2), same, DeterministicBias{});
  const Vector difference = (Vector(2) << 1.0, -1.0).finished();
  EXPECT_THROW((void)combined_output(Network({copies}, {Activation()}), difference), InvalidArgument);
  EXPECT_EQ(combined_output(Network({copies}, {Activation()}), Vector::Ones(2)).outputs(), 1);
}

TEST(CombinedOutput, RefusesWhatHasNoSuchLaw) {
  const DenseLayer layer("l", Matrix::Ones(2, 1), Vector::Zero(2),
                         MeanFieldWeights{Matrix::Ones(2, 1), EntryLaw(EntryLaw::Family::Uniform)},
                         DeterministicBias{});
  const Network network({layer}, {Activation()});
  EXPECT_THROW((void)combined_output(network, Vector::Ones(2)), InvalidArgument);
  EXPECT_EQ(combined_output(network, Vector::Unit(2, 1)).outputs(), 1);
  EXPECT_THROW((void)combined_output(network, Vector::Ones(3)), InvalidArgument);
  EXPECT_THROW((void)combined_output(network, Vector::Zero(2)), InvalidArgument);
}

}  // namespace combined_output_test
}  // namespace mixcert
