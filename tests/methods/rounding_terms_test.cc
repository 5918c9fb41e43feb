// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Slack for rounding (R.3), (R.4): where all hidden layers are deterministic the output is exactly
// Gaussian, the formula's value is zero and the bound consists of slack alone. It must cover the
// distance of the computed Gaussian to the one computed in extended precision, for weights that
// cancel badly as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/certify/certify.h"
#include "support/naive_activations.h"
#include "support/naive_layer.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace rounding_terms_test {

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;

/// A lower estimate of W2: means, and deviations of the coordinates (the marginals' W2).
Long marginal_distance(const LongVector& mean, const LongMatrix& covariance, const Gaussian& computed) {
  const LongVector variances = computed.covariance.variances().cast<Long>();
  const LongVector moved = computed.mean.cast<Long>() - mean;
  const LongVector spread = variances.cwiseSqrt() - covariance.diagonal().cwiseMax(Long(0)).cwiseSqrt();
  return std::sqrt(moved.squaredNorm() + spread.squaredNorm());
}

/// Entries that cancel: pairs of large weights of opposite sign that differ in the last digits.
Matrix cancelling_matrix(Generator& generator, Index rows, Index columns, double size) {
  Matrix matrix = random_matrix(generator, rows, columns);
  for (Index j = 0; j + 1 < columns; j += 2) {
    matrix.col(j) *= size;
    matrix.col(j + 1) = -matrix.col(j) + random_matrix(generator, rows, 1);
  }
  return matrix;
}

struct DeterministicCase {
  Network network;
  Vector input;
};

/// Deterministic layers with badly cancelling weights, then one stochastic layer.
DeterministicCase deterministic_case(WeightFamily last, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, 12);
  const auto hidden_layers = static_cast<Index>(seed % 4);
  // Sizes of layers multiply; beyond 2^40 they are refused (R.9).
  const double size = std::pow(10.0, 10.0 * uniform(generator) / static_cast<double>(1 + hidden_layers));
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  Index width = 4;
  for (Index k = 0; k < hidden_layers; ++k) {
    const Index next = 2 + static_cast<Index>(generator() % 12);
    layers.emplace_back(std::to_string(k), cancelling_matrix(generator, next, width, size),
                        random_matrix(generator, next, 1), DeterministicWeights{}, DeterministicBias{});
    width = next;
  }
  LayerRecipe recipe;
  recipe.weights = last;
  recipe.inputs = width;
  recipe.outputs = 3;
  recipe.mean_scale = size;
  recipe.deviation = std::pow(10.0, -8.0 * uniform(generator));
  layers.push_back(random_layer(generator, recipe, "last"));
  for (std::size_t k = 0; k < layers.size(); ++k) {
    activations.emplace_back(
        Activation(all_activation_functions()[generator() % all_activation_functions().size()], 0.3));
  }
  return {Network(std::move(layers), std::move(activations)), random_matrix(generator, 4, 1)};
}

/// Mean and covariance of the output in extended precision.
std::pair<LongVector, LongMatrix> precise_output(const DeterministicCase& made) {
  LongVector a = made.input.cast<Long>();
  LongVector mean;
  for (Index k = 0; k < made.network.layer_count(); ++k) {
    const Activation& s = made.network.activation(k).common();
    a = a.unaryExpr([&](Long x) { return naive_activation(s, x); }).eval();
    mean =
        made.network.layer(k).weight_mean().cast<Long>() * a + made.network.layer(k).bias_mean().cast<Long>();
    if (k + 1 < made.network.layer_count()) a = mean;
  }
  const DenseLayer& last = made.network.layer(made.network.hidden_count());
  const LongMatrix entries = naive_entry_covariance(last).cast<Long>();
  LongVector extended(a.size() + 1);
  extended << a, Long(1);
  const Index stride = extended.size();
  const LongMatrix covariance =
      LongMatrix::NullaryExpr(last.outputs(), last.outputs(), [&](Index i, Index k) {
        return extended.dot(entries.block(i * stride, k * stride, stride, stride) * extended);
      });
  return {mean, covariance};
}

class RoundingFamilies : public ::testing::TestWithParam<WeightFamily> {};

TEST_P(RoundingFamilies, SlackCoversTheError) {
  double largest_share = 0.0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const DeterministicCase made = deterministic_case(GetParam(), seed);
    const auto [mean, covariance] = precise_output(made);
    for (const CertificateMode mode : {CertificateMode::Best, CertificateMode::Paper}) {
      Options options;
      options.method = Method::Signature;
      options.certificate = mode;
      const Result result = certify(made.network, made.input, options).front();
      ASSERT_EQ(result.mixture.size(), 1);
      EXPECT_EQ(result.w2.nominal, 0.0);
      const auto distance =
          static_cast<double>(marginal_distance(mean, covariance, result.mixture.component(0)));
      EXPECT_LE(distance, result.w2.value) << "seed " << seed;
      if (result.w2.value > 0.0) largest_share = std::max(largest_share, distance / result.w2.value);
    }
  }
  RecordProperty("largest_share_of_slack_used", std::to_string(largest_share));
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, RoundingFamilies, ::testing::ValuesIn(all_weight_families()),
                         [](const auto& tested) { return to_string(tested.param); });

}  // namespace rounding_terms_test
}  // namespace mixcert::testing
