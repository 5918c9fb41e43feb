// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Simulation of canonical networks against drawing every random number of the layers by their definitions,
// one sample at a time: whatever the builder does with masks, noise, skips and maxima must keep the law.
#include <gtest/gtest.h>

#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/sample_statistics.h"
#include "support/naive_draw.h"
#include "support/random_specs.h"

namespace mixcert {
namespace layer_types_simulation_test {

using testing::activation_spec;
using testing::kSigmas;
using testing::random_matrix;
using testing::same_convolution;

DenseSpec dense(Index in, Index out, const std::string& name, bool stochastic = true) {
  Generator generator =
      make_generator(static_cast<std::uint64_t>(in * 31 + out), Stream::Example, name.size());
  Matrix mean = testing::random_matrix(generator, out, in) / std::sqrt(static_cast<double>(in));
  Vector bias = 0.5 * testing::random_vector(generator, out);
  if (!stochastic)
    return {{name, std::move(mean), std::move(bias), DeterministicWeights{}, DeterministicBias{}}};
  return {{name, std::move(mean), std::move(bias), MeanFieldWeights{Matrix::Constant(out, in, 0.2)},
           IndependentBias{Vector::Constant(out, 0.1)}}};
}

const LayerSpec kRelu = activation_spec(ActivationFunction::Relu);
const LayerSpec kTanh = activation_spec(ActivationFunction::Tanh);
const LayerShape kImage{1, {3, 3}, true};

Conv2dSpec conv(bool stochastic, const std::string& name = "conv", Index channels = 1) {
  Generator generator = make_generator(77, Stream::Example, name.size());
  Conv2dSpec spec = testing::same_convolution(generator, {channels, kImage.image, true}, stochastic, name);
  spec.kernel_mean *= 0.4;
  return spec;
}

struct Case {
  std::string name;
  std::vector<LayerSpec> layers;
};

class LawOf : public ::testing::TestWithParam<Case> {};

TEST_P(LawOf, TheCanonicalNetworkIsTheOneOfTheLayers) {
  constexpr Index kSamples = 20000;
  const std::vector<LayerSpec>& layers = GetParam().layers;
  const LayerShape shape = input_shape(layers);
  Generator generator = make_generator(5, Stream::Example);
  const Vector x = testing::random_vector(generator, shape.size());
  SimulationOptions options;
  options.samples = kSamples;
  options.threads = 1;
  const Matrix samples = simulate(build_ensemble(layers), x, 0, options);
  const Matrix naive = testing::naive_samples(layers, shape, x, kSamples, generator);
  ASSERT_EQ(naive.rows(), samples.rows());
  EXPECT_LE(testing::two_sample_z(samples, naive), kSigmas);
}

const Window2d kPairs{{2, 2}, {1, 1}, {0, 0}, {1, 1}};
const Window2d kPadded{{3, 2}, {2, 1}, {1, 1}, {1, 1}};
BatchNormSpec norm(Index channels) {
  Generator generator = make_generator(8, Stream::Example);
  return testing::random_batch_norm(generator, channels);
}

INSTANTIATE_TEST_SUITE_P(
    All, LawOf,
    ::testing::Values(
        Case{"conv", {conv(true)}},
        Case{"conv_relu_dense", {conv(true), kRelu, FlattenSpec{}, dense(9, 2, "d")}},
        Case{"two_convs", {conv(true), kTanh, conv(true, "second"), FlattenSpec{}, dense(9, 2, "d", false)}},
        Case{"max_pool", {conv(true), MaxPool2dSpec{kPairs}}},
        Case{"padded_max_pool", {conv(true), kTanh, MaxPool2dSpec{kPadded}, FlattenSpec{}, dense(8, 2, "d")}},
        Case{"avg_pool", {conv(true), kRelu, AvgPool2dSpec{kPadded}}},
        Case{"batch_norm", {conv(true), norm(1), kRelu, norm(1), FlattenSpec{}, dense(9, 2, "d"), norm(2)}},
        Case{"features",
             {conv(false), kRelu, MaxPool2dSpec{kPairs}, FlattenSpec{}, DropoutSpec{0.3}, dense(4, 2, "d")}},
        Case{"dropout_input", {DropoutSpec{0.4}, dense(3, 2, "d")}},
        Case{"dropout_output", {dense(3, 2, "d"), DropoutSpec{0.4}}},
        Case{"dropout_before_relu", {dense(3, 3, "a"), DropoutSpec{0.4}, kRelu, dense(3, 2, "b")}},
        Case{"dropout_before_tanh", {dense(3, 3, "a"), DropoutSpec{0.4}, kTanh, dense(3, 2, "b")}},
        Case{"dropouts", {dense(3, 3, "a"), kTanh, DropoutSpec{0.4}, DropoutSpec{0.2}, dense(3, 2, "b")}},
        Case{"mixed_dropouts",
             {dense(3, 3, "a"), GaussianDropoutSpec{0.4}, kRelu, DropoutSpec{0.2}, dense(3, 2, "b")}},
        Case{"dropout_of_conv", {conv(true), DropoutSpec{0.3}, conv(true, "second")}},
        Case{"noise",
             {GaussianNoiseSpec{0.5}, dense(3, 3, "a"), kTanh, GaussianNoiseSpec{0.3}, DropoutSpec{0.2},
              GaussianNoiseSpec{0.2}, dense(3, 2, "b"), GaussianNoiseSpec{0.1}}},
        Case{"residual",
             {dense(3, 3, "a"), kTanh, ResidualSpec{{dense(3, 4, "b"), kRelu, dense(4, 3, "c")}}}},
        Case{"residual_behind_dropout",
             {dense(3, 3, "a"), kTanh, DropoutSpec{0.3}, ResidualSpec{{kRelu, dense(3, 3, "b")}}}},
        Case{"residual_convs",
             {conv(true), kRelu, ResidualSpec{{norm(1), kTanh, conv(true, "second"), norm(1)}}, FlattenSpec{},
              dense(9, 2, "d")}},
        Case{"channel_dropout", {conv(true), kRelu, Dropout2dSpec{0.3}, FlattenSpec{}, dense(9, 2, "d")}},
        Case{"projection_skip",
             {conv(true), kRelu,
              ResidualSpec{{conv(true, "second"), kTanh, conv(true, "third")}, {conv(true, "skip"), norm(1)}},
              kRelu, FlattenSpec{}, dense(9, 2, "d")}},
        Case{"dropout_in_a_block",
             {conv(true), ResidualSpec{{kRelu, DropoutSpec{0.3}, conv(true, "second")}}, FlattenSpec{},
              dense(9, 2, "d")}},
        Case{"residual_noise",
             {dense(3, 3, "a"), ResidualSpec{{GaussianNoiseSpec{0.5}, kTanh, dense(3, 3, "b", false),
                                              GaussianNoiseSpec{0.4}, kRelu}}}},
        Case{"mixture",
             {dense(3, 3, "a"), kTanh,
              MixtureSpec{{0.3, 0.7}, {dense(3, 2, "one"), dense(3, 2, "other", false)}}}}),
    [](const auto& test) { return test.param.name; });

/// The same network in canonical form alone.
Network written_out(const Network& network) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  for (Index k = 0; k < network.layer_count(); ++k) {
    layers.push_back(network.layer(k));
    activations.push_back(network.activation(k));
    masks.push_back(network.mask(k));
  }
  return {std::move(layers), std::move(activations), std::move(masks), network.shared_front()};
}

TEST(JointDraws, OfGraphsAreThoseOfTheCanonicalNetwork) {
  Generator generator = make_generator(21, Stream::Example, 2960);
  const LayerShape image{2, {3, 3}, true};
  const Network network =
      build_network({same_convolution(generator, image, true, "a"), activation_spec(ActivationFunction::Tanh),
                     ResidualSpec{{same_convolution(generator, image, true, "b"),
                                   activation_spec(ActivationFunction::Relu)}},
                     FlattenSpec{},
                     DenseSpec{DenseLayer("head", random_matrix(generator, 2, 18), Vector::Zero(2),
                                          MeanFieldWeights{Matrix::Constant(2, 18, 0.2)},
                                          IndependentBias{Vector::Constant(2, 0.3)})}});
  ASSERT_NE(network.graph(), nullptr);
  const Matrix inputs = random_matrix(generator, 18, 3);
  const auto moments = [&](const Network& own, std::uint64_t seed) {
    const Matrix draws = simulate_joint(own, inputs, {40000, seed});
    const Matrix centred = draws.colwise() - draws.rowwise().mean();
    return std::pair<Vector, Matrix>(draws.rowwise().mean(), centred * centred.transpose() / 40000.0);
  };
  const auto [mean, covariance] = moments(network, 1);
  const auto [other_mean, other_covariance] = moments(written_out(network), 2);
  EXPECT_LE((mean - other_mean).norm(), 0.03 * std::sqrt(covariance.trace()));
  EXPECT_LE((covariance - other_covariance).norm(), 0.04 * covariance.norm());
  // Weights are the same at all inputs: blocks of different inputs are not zero.
  EXPECT_GE(covariance.block(0, 2, 2, 2).norm(), 0.05 * covariance.norm());
}

}  // namespace layer_types_simulation_test
}  // namespace mixcert
