// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (N.6) against difference quotients in every weight and the covariance of every pair of weights.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "network/linearised_network.h"
#include "support/matchers.h"
#include "support/naive_layer.h"
#include "support/random_network.h"

namespace mixcert {
namespace linearised_test {

/// Output of the network whose weights and biases are given, [W, b] of each layer.
Vector output_at(const Network& network, const std::vector<Matrix>& parameters, const Vector& input) {
  Vector state = input;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const Matrix& both = parameters[static_cast<std::size_t>(k)];
    const Vector activations = network.activation(k).apply(state);
    state = both.leftCols(both.cols() - 1) * activations + both.rightCols(1);
  }
  return state;
}

std::vector<Matrix> means(const Network& network) {
  std::vector<Matrix> parameters;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    Matrix& both = parameters.emplace_back(layer.outputs(), layer.inputs() + 1);
    both << layer.weight_mean(), layer.bias_mean();
  }
  return parameters;
}

/// Derivatives in the entries of [W, b] of layer k, row by row, by central differences.
Matrix jacobian_of(const Network& network, Index k, const Vector& input) {
  std::vector<Matrix> parameters = means(network);
  Matrix& own = parameters[static_cast<std::size_t>(k)];
  Matrix jacobian(network.outputs(), own.size());
  for (Index i = 0; i < own.rows(); ++i) {
    for (Index j = 0; j < own.cols(); ++j) {
      const double value = own(i, j), step = 1e-5;
      own(i, j) = value + step;
      const Vector above = output_at(network, parameters, input);
      own(i, j) = value - step;
      const Vector below = output_at(network, parameters, input);
      own(i, j) = value;
      jacobian.col(i * own.cols() + j) = (above - below) / (2.0 * step);
    }
  }
  return jacobian;
}

/// J Cov(theta) J', layers independent.
Matrix naive_covariance(const Network& network, const Vector& input) {
  Matrix sum = Matrix::Zero(network.outputs(), network.outputs());
  for (Index k = 0; k < network.layer_count(); ++k) {
    const Matrix jacobian = jacobian_of(network, k, input);
    sum += jacobian * testing::naive_entry_covariance(network.layer(k)) * jacobian.transpose();
  }
  return sum;
}

/// Column s of the factor of [W, b], row by row.
Vector factor_column(const LowRankWeights& law, Index s) {
  const Matrix& weights = law.factor[static_cast<std::size_t>(s)];
  Matrix both(weights.rows(), weights.cols() + 1);
  both << weights, law.bias_factor.col(s);
  const Matrix transposed = both.transpose();
  return transposed.reshaped();
}

/// What layers have in common beyond their own laws: J_k F_k F_l' J_l' over pairs of layers.
Matrix naive_common_part(const Network& network, const Vector& input) {
  Matrix sum = Matrix::Zero(network.outputs(), network.outputs());
  for (Index k = 0; k < network.layer_count(); ++k) {
    for (Index l = 0; l < network.layer_count(); ++l) {
      if (k == l) continue;
      const auto& one = std::get<LowRankWeights>(network.layer(k).weights());
      const auto& other = std::get<LowRankWeights>(network.layer(l).weights());
      for (Index s = 0; s < network.common_factor_count(); ++s) {
        sum += jacobian_of(network, k, input) * factor_column(one, s) *
               (jacobian_of(network, l, input) * factor_column(other, s)).transpose();
      }
    }
  }
  return sum;
}

/// Every layer says that its factor is that of the others.
Network with_common_factor(const Network& network) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    auto law = std::get<LowRankWeights>(layer.weights());
    law.is_common = true;
    layers.emplace_back(layer.name(), layer.weight_mean(), layer.bias_mean(), law, layer.bias());
    activations.push_back(network.activation(k));
  }
  return {std::move(layers), std::move(activations)};
}

class LinearisedOf : public ::testing::TestWithParam<testing::WeightFamily> {};

TEST_P(LinearisedOf, HasTheMeanAndTheCovarianceOfTheDefinition) {
  const std::vector<ActivationFunction> functions = {ActivationFunction::Tanh, ActivationFunction::Relu,
                                                     ActivationFunction::Gelu};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    testing::NetworkRecipe recipe;
    recipe.widths = seed % 2 == 0 ? std::vector<Index>{2, 4, 3} : std::vector<Index>{3, 4, 3, 2};
    recipe.weights = GetParam();
    recipe.bias = testing::all_bias_families()[seed % 3];
    recipe.activation = functions[seed % 3];
    recipe.seed = 400 + seed;
    const Network network = testing::random_network(recipe);
    Generator generator = make_generator(seed, Stream::Example);
    const Vector input = testing::random_matrix(generator, network.inputs(), 1);
    Options options;
    options.predictive = Predictive::Glm;
    const Result result = certify(network, input, options).front();
    ASSERT_EQ(result.mixture.size(), 1);
    const Matrix expected = naive_covariance(network, input);
    EXPECT_LT((result.mixture.mean() - output_at(network, means(network), input)).norm(), 1e-12);
    const double error = (result.mixture.component(0).covariance.to_dense() - expected).norm();
    EXPECT_LT(error, 1e-6 * (1e-6 + expected.norm())) << "seed " << seed;
    EXPECT_LT(result.w2.value, 1e-5 * (1.0 + std::sqrt(expected.trace()))) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, LinearisedOf, ::testing::ValuesIn(testing::all_weight_families()),
                         [](const auto& family) { return testing::to_string(family.param); });

TEST(LinearisedNetwork, FactorsInCommonCorrelateLayers) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    testing::NetworkRecipe recipe;
    recipe.widths = seed % 2 == 0 ? std::vector<Index>{2, 4, 3} : std::vector<Index>{3, 4, 3, 2};
    recipe.weights = testing::WeightFamily::LowRankWithBias;
    recipe.bias = testing::all_bias_families()[seed % 3];
    recipe.seed = 500 + seed;
    const Network network = with_common_factor(testing::random_network(recipe));
    ASSERT_EQ(network.common_factor_count(), 2);
    const Vector input = Vector::Constant(network.inputs(), 0.4);
    EXPECT_THROW((void)certify(network, input, Options()), InvalidArgument);
    Options options;
    options.predictive = Predictive::Glm;
    const Result result = certify(network, input, options).front();
    const Matrix expected = naive_covariance(network, input) + naive_common_part(network, input);
    const double error = (result.mixture.component(0).covariance.to_dense() - expected).norm();
    EXPECT_LT(error, 1e-6 * expected.norm()) << "seed " << seed;
  }
}

TEST(LinearisedNetwork, LeavesMaskedAndOtherWeightsAlone) {
  Options options;
  options.predictive = Predictive::Glm;
  const auto refusal = [&](const Network& network) -> std::string {
    try {
      (void)certify(network, Vector::Ones(1), options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const auto layer = [](const EntryLaw& law) {
    return DenseLayer("l", Matrix::Ones(1, 1), Vector::Zero(1), MeanFieldWeights{Matrix::Ones(1, 1), law},
                      DeterministicBias{});
  };
  const DenseLayer normal = layer(EntryLaw());
  const Activation relu(ActivationFunction::Relu);
  const Network masked({normal, normal}, {Activation(), relu}, {Mask(), Mask::bernoulli(0.5)});
  EXPECT_NE(refusal(masked).find("dropout"), std::string::npos);
  const Network heavy({normal, layer(EntryLaw(EntryLaw::Family::Laplace))}, {Activation(), relu});
  EXPECT_NE(refusal(heavy).find("Gaussian weights"), std::string::npos);
}

TEST(LinearisedNetwork, OptionsWithoutUseAreNamed) {
  Options options;
  options.predictive = Predictive::Glm;
  options.pieces = 4;
  try {
    options.validate();
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "option --pieces: predictive glm has no use for it");
  }
}

}  // namespace linearised_test
}  // namespace mixcert
