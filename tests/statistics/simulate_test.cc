// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Simulation of every weight and bias family against the closed form of one layer and
// against drawing all weights entry by entry; reproducibility.
#include "mixcert/statistics/simulate.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"
#include "statistics/naive_draws.h"
#include "statistics/sample_statistics.h"
#include "support/random_network.h"

namespace mixcert {
namespace simulate_test {

using testing::BiasFamily;
using testing::kSigmas;
using testing::moment_z;
using testing::NaiveDraws;
using testing::random_layer;
using testing::random_matrix;
using testing::two_sample_z;
using testing::WeightFamily;

constexpr Index kInputs = 3;
constexpr Index kOutputs = 2;

SimulationOptions options_for(Index samples, std::uint64_t seed = 1, int threads = 1) {
  SimulationOptions options;
  options.samples = samples;
  options.seed = seed;
  options.threads = threads;
  return options;
}

Activation identity() { return Activation(ActivationFunction::Identity); }
Activation relu() { return Activation(ActivationFunction::Relu); }

DenseLayer identity_layer() {
  return {"identity", Matrix::Identity(kInputs, kInputs), Vector::Zero(kInputs), DeterministicWeights{},
          DeterministicBias{}};
}

/// The layer alone (drawn from its law at the fixed inputs), or behind a layer that does
/// nothing (drawn given activations).
Network one_layer(const DenseLayer& layer, bool behind_identity) {
  if (!behind_identity) return {{layer}, {identity()}};
  return {{identity_layer(), layer}, {identity(), identity()}};
}

/// Mean and covariance of the outputs at `inputs`, input-major, from DenseLayer::push.
std::pair<Vector, Matrix> exact_moments(const DenseLayer& layer, const Matrix& inputs) {
  const Index count = inputs.cols();
  const Matrix transposed = inputs.transpose();
  const DenseLayer::Pushed pushed = layer.push(transposed.reshaped(), count);
  std::vector<Index> order;
  for (Index p = 0; p < count; ++p) {
    for (Index i = 0; i < layer.outputs(); ++i) order.push_back(i * count + p);
  }
  const Matrix covariance = pushed.covariances.front().to_dense();
  return {pushed.means.col(0)(order), covariance(order, order)};
}

using Families = std::tuple<WeightFamily, BiasFamily>;

/// All pairs; the joint family holds the bias itself.
std::vector<Families> family_pairs() {
  std::vector<Families> pairs;
  std::vector<WeightFamily> families = testing::all_weight_families();
  families.push_back(WeightFamily::LowRankWithBias);
  for (const WeightFamily weights : families) {
    for (const BiasFamily bias : testing::all_bias_families()) {
      if (weights != WeightFamily::Joint || bias == BiasFamily::Deterministic)
        pairs.emplace_back(weights, bias);
    }
  }
  return pairs;
}

class LayerFamilies : public ::testing::TestWithParam<Families> {
 protected:
  DenseLayer layer(Index out = kOutputs, Index in = kInputs) {
    return random_layer(generator_, {std::get<0>(GetParam()), std::get<1>(GetParam()), in, out, 1.0, 0.8});
  }
  Generator generator_ = make_generator(51, Stream::Example);
};

TEST_P(LayerFamilies, OneLayerHasTheClosedFormMoments) {
  const DenseLayer dense = layer();
  const Vector input = random_matrix(generator_, kInputs, 1);
  const auto [mean, covariance] = exact_moments(dense, input);
  for (const bool behind_identity : {false, true}) {
    const Matrix samples = simulate(one_layer(dense, behind_identity), input, 0, options_for(100000));
    EXPECT_LE(moment_z(samples, mean, covariance), kSigmas) << "behind identity: " << behind_identity;
  }
}

TEST_P(LayerFamilies, OneLayerHasTheClosedFormMomentsJointly) {
  const DenseLayer dense = layer();
  const Matrix inputs = random_matrix(generator_, kInputs, 2);
  const auto [mean, covariance] = exact_moments(dense, inputs);
  for (const bool behind_identity : {false, true}) {
    const Matrix samples = simulate_joint(one_layer(dense, behind_identity), inputs, options_for(100000));
    EXPECT_LE(moment_z(samples, mean, covariance), kSigmas) << "behind identity: " << behind_identity;
  }
}

TEST_P(LayerFamilies, TwoReluLayersAgreeWithDrawingAllWeights) {
  const DenseLayer first = layer(4, kInputs);
  const DenseLayer second = layer(kOutputs, 4);
  const Matrix inputs = random_matrix(generator_, kInputs, 2);
  const Network network({first, second}, {identity(), relu()});
  const Matrix joint = simulate_joint(network, inputs, options_for(40000));
  const NaiveDraws naive_first(first);
  const NaiveDraws naive_second(second);
  Matrix naive(2 * kOutputs, 40000);
  for (Index s = 0; s < naive.cols(); ++s) {
    const Matrix hidden = naive_first.draw(inputs, generator_).cwiseMax(0.0);
    naive.col(s) = naive_second.draw(hidden, generator_).reshaped();
  }
  EXPECT_LE(two_sample_z(joint, naive), kSigmas);
  for (Index p = 0; p < 2; ++p) {
    const Matrix single = simulate(network, inputs.col(p), p, options_for(40000, 2));
    EXPECT_LE(two_sample_z(single, naive.middleRows(p * kOutputs, kOutputs)), kSigmas);
    EXPECT_LE(two_sample_z(single, joint.middleRows(p * kOutputs, kOutputs)), kSigmas);
  }
}

TEST_P(LayerFamilies, DoNotDependOnThreads) {
  const Network network({layer(4, kInputs), layer(kOutputs, 4)}, {identity(), relu()});
  const Matrix inputs = random_matrix(generator_, kInputs, 3);
  const Matrix single = simulate(network, inputs.col(0), 0, options_for(1777, 1, 1));
  const Matrix joint = simulate_joint(network, inputs, options_for(1777, 1, 1));
  for (const int threads : {2, 3}) {
    EXPECT_EQ(simulate(network, inputs.col(0), 0, options_for(1777, 1, threads)), single);
    EXPECT_EQ(simulate_joint(network, inputs, options_for(1777, 1, threads)), joint);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayerFamilies, ::testing::ValuesIn(family_pairs()), [](const auto& tested) {
  return testing::to_string(std::get<0>(tested.param)) + testing::to_string(std::get<1>(tested.param));
});

class Simulation : public ::testing::Test {
 protected:
  DenseLayer layer(WeightFamily weights, BiasFamily bias, Index out, Index in) {
    return random_layer(generator_, {weights, bias, in, out});
  }
  Network network(WeightFamily family = WeightFamily::MeanField) {
    return {{layer(family, BiasFamily::Independent, 4, kInputs),
             layer(family, BiasFamily::Independent, kOutputs, 4)},
            {identity(), relu()}};
  }
  Generator generator_ = make_generator(52, Stream::Example);
};

/// Layers that draw the same normals, against all weights drawn from z.
TEST_F(Simulation, FactorsInCommonAreDrawnOnceForAllLayers) {
  const auto common = [&](Index out, Index in) {
    const DenseLayer drawn = layer(WeightFamily::LowRankWithBias, BiasFamily::Independent, out, in);
    auto law = std::get<LowRankWeights>(drawn.weights());
    for (Matrix& column : law.factor) column *= 3.0;
    law.is_common = true;
    return DenseLayer(drawn.name(), drawn.weight_mean(), drawn.bias_mean(), law, drawn.bias());
  };
  const DenseLayer first = common(4, kInputs), second = common(kOutputs, 4);
  const Network network({first, second}, {identity(), relu()});
  const Matrix inputs = random_matrix(generator_, kInputs, 2);
  const Matrix joint = simulate_joint(network, inputs, options_for(40000));
  Matrix naive(2 * kOutputs, 40000);
  for (Index s = 0; s < naive.cols(); ++s) {
    const Vector z = random_matrix(generator_, 2, 1);
    Matrix state = inputs;
    for (const DenseLayer* drawn : {&first, &second}) {
      const auto& law = std::get<LowRankWeights>(drawn->weights());
      Matrix weights = drawn->weight_mean();
      weights +=
          law.variance.cwiseSqrt().cwiseProduct(random_matrix(generator_, weights.rows(), weights.cols()));
      for (Index k = 0; k < 2; ++k) weights += z(k) * law.factor[static_cast<std::size_t>(k)];
      Vector bias = drawn->bias_mean() + law.bias_factor * z;
      const Vector& variance = std::get<IndependentBias>(drawn->bias()).variance;
      bias += variance.cwiseSqrt().cwiseProduct(random_matrix(generator_, bias.size(), 1));
      state = (weights * state).colwise() + bias;
      if (drawn == &first) state = state.cwiseMax(0.0).eval();
    }
    naive.col(s) = state.reshaped();
  }
  EXPECT_LE(two_sample_z(joint, naive), kSigmas);
  for (Index p = 0; p < 2; ++p) {
    const Matrix single = simulate(network, inputs.col(p), p, options_for(40000, 2));
    EXPECT_LE(two_sample_z(single, naive.middleRows(p * kOutputs, kOutputs)), kSigmas);
  }
}

TEST_F(Simulation, SharedWeightsMakeEqualInputsEqual) {
  for (const WeightFamily family : testing::all_weight_families()) {
    const Network tested = network(family);
    const Matrix inputs = random_matrix(generator_, kInputs, 1).replicate(1, 2);
    const Matrix samples = simulate_joint(tested, inputs, options_for(50));
    EXPECT_LE((samples.topRows(kOutputs) - samples.bottomRows(kOutputs)).cwiseAbs().maxCoeff(), 1e-6)
        << testing::to_string(family);
  }
}

TEST_F(Simulation, DeterministicNetworkIsEvaluated) {
  const DenseLayer first = layer(WeightFamily::Deterministic, BiasFamily::Deterministic, 4, kInputs);
  const DenseLayer second = layer(WeightFamily::Deterministic, BiasFamily::Deterministic, kOutputs, 4);
  const Network tested({first, second}, {Activation(ActivationFunction::Tanh), relu()});
  const Vector input = random_matrix(generator_, kInputs, 1);
  const Vector activated = input.array().tanh();
  const Vector hidden = (first.weight_mean() * activated + first.bias_mean()).cwiseMax(0.0);
  const Vector expected = second.weight_mean() * hidden + second.bias_mean();
  const Matrix samples = simulate(tested, input, 0, options_for(3));
  for (Index s = 0; s < 3; ++s) EXPECT_LE((samples.col(s) - expected).norm(), 1e-14);
}

TEST_F(Simulation, StreamsDiffer) {
  const Network tested = network();
  const Vector input = random_matrix(generator_, kInputs, 1);
  const Matrix reference = simulate(tested, input, 0, options_for(10));
  EXPECT_EQ(simulate(tested, input, 0, options_for(10)), reference);
  EXPECT_NE(simulate(tested, input, 0, options_for(10, 2)), reference);
  EXPECT_NE(simulate(tested, input, 1, options_for(10)), reference);
  // Pieces differ from each other as well.
  const Matrix many = simulate(tested, input, 0, options_for(1000));
  for (Index s = 1; s < many.cols(); ++s) ASSERT_NE(many.col(s), many.col(0));
}

TEST_F(Simulation, StopsWhenAsked) {
  const Network tested = network();
  const CancelFlag stop{true};
  SimulationOptions options = options_for(10000);
  options.cancel = &stop;
  EXPECT_THROW((void)simulate(tested, Vector::Zero(kInputs), 0, options), Interrupted);
  EXPECT_THROW((void)simulate_joint(tested, Matrix::Zero(kInputs, 2), options), Interrupted);
}

TEST_F(Simulation, RefusesBadInput) {
  const Network tested = network();
  const Vector infinite = Vector::Constant(kInputs, std::numeric_limits<double>::infinity());
  EXPECT_THROW((void)simulate(tested, Vector::Zero(kInputs + 1), 0, options_for(10)), InvalidArgument);
  EXPECT_THROW((void)simulate(tested, infinite, 0, options_for(10)), InvalidArgument);
  EXPECT_THROW((void)simulate(tested, Vector::Zero(kInputs), 0, options_for(0)), InvalidArgument);
  EXPECT_THROW((void)simulate_joint(tested, Matrix(kInputs, 0), options_for(10)), InvalidArgument);
}

}  // namespace simulate_test
}  // namespace mixcert
