// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Pushing points and second moments of every weight and bias family against sums over the
// covariances of all pairs of entries.
#include "mixcert/network/dense_layer.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "mixcert/core/error.h"
#include "support/matchers.h"
#include "support/naive_layer.h"
#include "support/random_network.h"

namespace mixcert {
namespace dense_layer_test {

using testing::BiasFamily;
using testing::is_close;
using testing::Tolerance;
using testing::WeightFamily;

using Parameters = std::tuple<WeightFamily, BiasFamily, std::tuple<Index, Index>>;

class LayerOf : public ::testing::TestWithParam<Parameters> {
 protected:
  LayerOf() : generator_(make_generator(71, Stream::Example)), layer_(make()) {}

  DenseLayer make() {
    testing::LayerRecipe recipe;
    recipe.weights = std::get<0>(GetParam());
    recipe.bias = std::get<1>(GetParam());
    std::tie(recipe.inputs, recipe.outputs) = std::get<2>(GetParam());
    return testing::random_layer(generator_, recipe);
  }

  Generator generator_;
  DenseLayer layer_;
};

TEST_P(LayerOf, PushesPointsAsTheDefinitionSays) {
  for (const Index input_count : {1, 3}) {
    Matrix points = testing::random_matrix(generator_, layer_.inputs() * input_count, 3);
    points.col(2).setZero();
    const DenseLayer::Pushed pushed = layer_.push(points, input_count);
    ASSERT_EQ(pushed.means.cols(), 3);
    ASSERT_EQ(pushed.covariances.size(), 3U);
    for (Index p = 0; p < 3; ++p) {
      const Gaussian naive = testing::naive_push(layer_, points.col(p), input_count);
      const Covariance& got = pushed.covariances[static_cast<std::size_t>(p)];
      EXPECT_TRUE(is_close(Matrix(pushed.means.col(p)), Matrix(naive.mean), Tolerance::linear_algebra));
      EXPECT_TRUE(is_close(got.to_dense(), naive.covariance.to_dense(), Tolerance::linear_algebra));
      EXPECT_TRUE(testing::is_positive_semidefinite(got.to_dense()));
    }
  }
}

/// sum_i g_i Cov(W_ij, W_il), entry by entry.
Matrix naive_gram(const DenseLayer& layer, const Vector& g) {
  return Matrix::NullaryExpr(layer.inputs(), layer.inputs(), [&](Index j, Index l) {
    double sum = 0.0;
    for (Index i = 0; i < layer.outputs(); ++i) {
      sum += g(i) * testing::entry_covariance_of(layer, i, j, i, l);
    }
    return sum;
  });
}

TEST_P(LayerOf, GramsAreSumsOverRows) {
  Vector g = testing::random_matrix(generator_, layer_.outputs(), 1).cwiseAbs();
  g(0) = 0.0;
  const Matrix centred = naive_gram(layer_, g);
  EXPECT_TRUE(is_close(layer_.centred_gram(g), centred, Tolerance::linear_algebra));
  const Matrix& mean = layer_.weight_mean();
  EXPECT_TRUE(is_close(layer_.second_moment_gram(g),
                       Matrix(centred + mean.transpose() * g.asDiagonal() * mean),
                       Tolerance::linear_algebra));
}

TEST_P(LayerOf, VariancesAreDiagonalsOfTheEntryCovariance) {
  const Index in = layer_.inputs();
  double total = 0.0;
  for (Index i = 0; i < layer_.outputs(); ++i) {
    double row = 0.0;
    for (Index j = 0; j < in; ++j) row += testing::entry_covariance_of(layer_, i, j, i, j);
    EXPECT_TRUE(is_close(layer_.row_variances()(i), row, Tolerance::linear_algebra));
    EXPECT_TRUE(is_close(layer_.bias_variances()(i), testing::entry_covariance_of(layer_, i, in, i, in),
                         Tolerance::linear_algebra));
    EXPECT_TRUE(
        is_close(layer_.row_norms()(i), layer_.weight_mean().row(i).norm(), Tolerance::linear_algebra));
    total += row;
  }
  EXPECT_TRUE(is_close(layer_.total_weight_variance(), total, Tolerance::linear_algebra));
}

/// Independent, deterministic and bias-including laws by their entries' covariances.
TEST_P(LayerOf, AnswersOfItsLawAreThoseOfItsCovariances) {
  const Index in = layer_.inputs();
  const Index stride = in + 1;
  const Matrix all = testing::naive_entry_covariance(layer_);
  bool random = false, correlated = false, with_bias = false;
  for (Index a = 0; a < all.rows(); ++a) {
    for (Index b = 0; b < all.cols(); ++b) {
      const bool bias_a = a % stride == in;
      const bool bias_b = b % stride == in;
      if (!bias_a && !bias_b) random = random || all(a, b) != 0.0;
      if (!bias_a && !bias_b && a != b) correlated = correlated || all(a, b) != 0.0;
      if (bias_a != bias_b) with_bias = with_bias || all(a, b) != 0.0;
    }
  }
  const WeightCovariance& weights = layer_.weights();
  // Variances of zero are a random family all the same.
  EXPECT_EQ(is_deterministic(weights), std::get<0>(GetParam()) == WeightFamily::Deterministic);
  EXPECT_FALSE(is_deterministic(weights) && random);
  // A factor that reaches into the bias leaves room for more.
  const bool reaches = std::get<0>(GetParam()) == WeightFamily::LowRankWithBias;
  EXPECT_EQ(includes_bias(weights), with_bias && !reaches);
  const Matrix* variances = independent_variances(weights);
  // One weight has nothing to be correlated with.
  if (layer_.outputs() * in > 1) {
    EXPECT_EQ(variances != nullptr, random && !correlated);
  }
  if (variances != nullptr) {
    EXPECT_EQ(*variances, layer_.weight_variances());
  }
  const Vector* of_bias = independent_variances(layer_.bias());
  if (of_bias != nullptr && !reaches) {
    EXPECT_EQ(*of_bias, layer_.bias_variances());
  }
  EXPECT_TRUE(entry_law(weights).is_normal());
  EXPECT_TRUE(entry_law(layer_.bias()).is_normal());
  EXPECT_EQ(factor_count(weights) > 0, reaches || std::get<0>(GetParam()) == WeightFamily::LowRank);
}

std::vector<WeightFamily> with_factors_of_biases() {
  std::vector<WeightFamily> families = testing::all_weight_families();
  families.push_back(WeightFamily::LowRankWithBias);
  return families;
}

std::string name_of(const ::testing::TestParamInfo<Parameters>& tested) {
  const auto& [weights, bias, sizes] = tested.param;
  return testing::to_string(weights) + "_" + testing::to_string(bias) + "_" +
         std::to_string(std::get<0>(sizes)) + "x" + std::to_string(std::get<1>(sizes));
}

INSTANTIATE_TEST_SUITE_P(
    Families, LayerOf,
    ::testing::Combine(::testing::ValuesIn(with_factors_of_biases()),
                       ::testing::ValuesIn(testing::all_bias_families()),
                       ::testing::Values(std::tuple<Index, Index>{3, 4}, std::tuple<Index, Index>{1, 1},
                                         std::tuple<Index, Index>{5, 1}, std::tuple<Index, Index>{1, 3})),
    name_of);

TEST(DenseLayer, KeepsTheStructureOfIndependentWeights) {
  Generator generator = make_generator(72, Stream::Example);
  testing::LayerRecipe recipe;
  const DenseLayer mean_field = testing::random_layer(generator, recipe);
  const Matrix single = testing::random_matrix(generator, 3, 2);
  const Matrix joint = testing::random_matrix(generator, 9, 2);
  EXPECT_TRUE(mean_field.push(single, 1).covariances[0].is_diagonal());
  EXPECT_EQ(mean_field.push(joint, 3).covariances[0].block_size(), 3);
  recipe.weights = WeightFamily::LowRank;
  const DenseLayer low_rank = testing::random_layer(generator, recipe);
  EXPECT_EQ(low_rank.push(single, 1).covariances[0].rank(), 2);
  EXPECT_EQ(low_rank.push(joint, 3).covariances[0].block_size(), 3);
}

TEST(DenseLayer, CountsParametersAndKnowsDeterminism) {
  Generator generator = make_generator(73, Stream::Example);
  testing::LayerRecipe recipe;
  EXPECT_EQ(testing::random_layer(generator, recipe).parameter_count(), 2 * (12 + 4));
  EXPECT_FALSE(testing::random_layer(generator, recipe).is_deterministic());
  recipe.weights = WeightFamily::Kronecker;
  recipe.bias = BiasFamily::Correlated;
  EXPECT_EQ(testing::random_layer(generator, recipe).parameter_count(), 12 + 4 + 16 + 9 + 16);
  recipe.weights = WeightFamily::LowRank;
  recipe.bias = BiasFamily::Deterministic;
  EXPECT_EQ(testing::random_layer(generator, recipe).parameter_count(), 12 + 4 + 3 * 12);
  recipe.weights = WeightFamily::Deterministic;
  EXPECT_TRUE(testing::random_layer(generator, recipe).is_deterministic());
}

TEST(DenseLayer, RefusesPointsOfTheWrongSize) {
  Generator generator = make_generator(74, Stream::Example);
  const DenseLayer layer = testing::random_layer(generator, {});
  EXPECT_THROW((void)layer.push(Matrix::Zero(4, 1), 1), InvalidArgument);
  EXPECT_THROW((void)layer.push(Matrix::Zero(3, 1), 2), InvalidArgument);
}

}  // namespace dense_layer_test
}  // namespace mixcert
