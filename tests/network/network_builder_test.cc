// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What lists of layers become: where masks, identity layers and noise go, ensembles, and one line for
// everything that does not fit.
#include "mixcert/network/network_builder.h"

#include <gtest/gtest.h>

#include "mixcert/core/error.h"
#include "mixcert/network/layer_spec.h"
#include "support/matchers.h"
#include "support/random_specs.h"

namespace mixcert {
namespace network_builder_test {

using testing::activation_spec;

DenseSpec dense(Index in, Index out, bool stochastic = true, const std::string& name = "d") {
  const Matrix mean = Matrix::Constant(out, in, 0.5);
  if (!stochastic) return {{name, mean, Vector::Ones(out), DeterministicWeights{}, DeterministicBias{}}};
  return {{name, mean, Vector::Ones(out), MeanFieldWeights{Matrix::Constant(out, in, 0.1)},
           IndependentBias{Vector::Constant(out, 0.2)}}};
}

const LayerSpec kRelu = activation_spec(ActivationFunction::Relu);
const LayerSpec kTanh = activation_spec(ActivationFunction::Tanh);

ActivationFunction function_of(const Network& network, Index k) {
  return network.activation(k).common().function();
}

bool is_identity_matrix(const DenseLayer& layer) {
  return layer.weight_mean() == Matrix::Identity(layer.outputs(), layer.inputs());
}

TEST(Builder, KeepsPlainDenseNetworks) {
  const Network network = build_network({dense(2, 3), kTanh, dense(3, 1, true, "e")});
  ASSERT_EQ(network.layer_count(), 2);
  EXPECT_EQ(network.front(), nullptr);
  EXPECT_EQ(network.layer(1).name(), "e");
  EXPECT_EQ(function_of(network, 0), ActivationFunction::Identity);
  EXPECT_EQ(function_of(network, 1), ActivationFunction::Tanh);
  EXPECT_FALSE(network.has_masks());
}

TEST(Builder, ADeterministicNetworkKeepsItsLastDenseLayer) {
  const Network network = build_network({dense(2, 3, false), kTanh, dense(3, 1, false, "e")});
  ASSERT_EQ(network.layer_count(), 1);
  ASSERT_NE(network.front(), nullptr);
  EXPECT_EQ(network.layer(0).name(), "e");
  EXPECT_EQ(network.inputs(), 2);
  const Network activated = build_network({dense(2, 3, false), kTanh});
  EXPECT_TRUE(is_identity_matrix(activated.layer(0)));
  EXPECT_EQ(activated.outputs(), 3);
}

TEST(Builder, AFirstActivationNeedsNoMap) {
  const Network network = build_network({kTanh, dense(2, 3)});
  EXPECT_EQ(network.front(), nullptr);
  EXPECT_EQ(function_of(network, 0), ActivationFunction::Tanh);
}

TEST(Builder, ActivationsInARowAndAtTheEnd) {
  const Network network = build_network({dense(2, 3), kTanh, kRelu});
  ASSERT_EQ(network.layer_count(), 3);
  EXPECT_EQ(function_of(network, 1), ActivationFunction::Tanh);
  EXPECT_TRUE(is_identity_matrix(network.layer(1)));
  EXPECT_EQ(function_of(network, 2), ActivationFunction::Relu);
  EXPECT_TRUE(is_identity_matrix(network.layer(2)));
  EXPECT_NE(network.layer(1).name(), network.layer(2).name());
}

TEST(Builder, DropoutIsTheMaskOfTheNextLayer) {
  const Network network = build_network({dense(2, 3), kTanh, DropoutSpec{0.25}, dense(3, 1, true, "e")});
  ASSERT_EQ(network.layer_count(), 2);
  EXPECT_EQ(network.mask(1).kind(), Mask::Kind::Bernoulli);
  EXPECT_EQ(network.mask(1).rate(), 0.25);
}

TEST(Builder, DropoutCommutesWithReluOnly) {
  const Network relu = build_network({dense(2, 3), DropoutSpec{0.25}, kRelu, dense(3, 1, true, "e")});
  ASSERT_EQ(relu.layer_count(), 2);
  EXPECT_EQ(relu.mask(1).rate(), 0.25);
  EXPECT_EQ(function_of(relu, 1), ActivationFunction::Relu);
  const Network tanh = build_network({dense(2, 3), DropoutSpec{0.25}, kTanh, dense(3, 1, true, "e")});
  ASSERT_EQ(tanh.layer_count(), 3);
  EXPECT_EQ(tanh.mask(1).rate(), 0.25);
  EXPECT_TRUE(tanh.mask(2).is_none());
  EXPECT_EQ(function_of(tanh, 1), ActivationFunction::Identity);
  EXPECT_EQ(function_of(tanh, 2), ActivationFunction::Tanh);
  // Gaussian factors may be negative.
  const Network gaussian =
      build_network({dense(2, 3), GaussianDropoutSpec{0.25}, kRelu, dense(3, 1, true, "e")});
  ASSERT_EQ(gaussian.layer_count(), 3);
  EXPECT_EQ(gaussian.mask(1).kind(), Mask::Kind::Gaussian);
}

TEST(Builder, DropoutsInARowMergeOrGetAnIdentityLayer) {
  const Network merged =
      build_network({dense(2, 3), DropoutSpec{0.5}, DropoutSpec{0.25}, dense(3, 1, true, "e")});
  ASSERT_EQ(merged.layer_count(), 2);
  EXPECT_EQ(merged.mask(1).keep(), 0.375);
  const Network mixed =
      build_network({dense(2, 3), DropoutSpec{0.5}, GaussianDropoutSpec{0.25}, dense(3, 1, true, "e")});
  ASSERT_EQ(mixed.layer_count(), 3);
  EXPECT_EQ(mixed.mask(1).kind(), Mask::Kind::Bernoulli);
  EXPECT_TRUE(is_identity_matrix(mixed.layer(1)));
  EXPECT_EQ(mixed.mask(2).kind(), Mask::Kind::Gaussian);
  const double nearly_all = 1.0 - 1e-10;
  EXPECT_EQ(
      build_network({dense(2, 3), DropoutSpec{nearly_all}, DropoutSpec{nearly_all}, dense(3, 1, true, "e")})
          .layer_count(),
      3);
}

TEST(Builder, DropoutOfTheInputTheFeaturesAndTheOutput) {
  const Network input = build_network({DropoutSpec{0.5}, dense(2, 3)});
  ASSERT_EQ(input.layer_count(), 2);
  EXPECT_TRUE(is_identity_matrix(input.layer(0)));
  EXPECT_EQ(input.mask(1).rate(), 0.5);
  const Network features =
      build_network({dense(2, 4, false), kTanh, DropoutSpec{0.5}, dense(4, 3, true, "e")});
  ASSERT_EQ(features.layer_count(), 2);
  ASSERT_NE(features.front(), nullptr);
  EXPECT_EQ(features.feature_count(), 4);
  EXPECT_EQ(features.mask(1).rate(), 0.5);
  const Network output = build_network({dense(2, 3), DropoutSpec{0.5}});
  ASSERT_EQ(output.layer_count(), 2);
  EXPECT_TRUE(is_identity_matrix(output.layer(1)));
  EXPECT_EQ(output.mask(1).rate(), 0.5);
}

TEST(Builder, NoiseIsABias) {
  const Network folded = build_network({dense(2, 3), GaussianNoiseSpec{0.5}, kTanh, dense(3, 1, true, "e")});
  ASSERT_EQ(folded.layer_count(), 2);
  EXPECT_TRUE(
      testing::is_close(Matrix(folded.layer(0).bias_variances()), Matrix::Constant(3, 1, 0.45), 1e-15));
  const Network behind = build_network({dense(2, 3), kTanh, GaussianNoiseSpec{0.5}, dense(3, 1, true, "e")});
  ASSERT_EQ(behind.layer_count(), 3);
  EXPECT_TRUE(is_identity_matrix(behind.layer(1)));
  EXPECT_EQ(behind.layer(1).bias_variances()(0), 0.25);
  EXPECT_EQ(function_of(behind, 1), ActivationFunction::Tanh);
  const Network input = build_network({GaussianNoiseSpec{0.5}, dense(2, 3, false)});
  ASSERT_EQ(input.layer_count(), 2);
  EXPECT_EQ(input.front(), nullptr);
}

TEST(Builder, NoiseKeepsTheShapesOfOtherLaws) {
  DenseSpec laplace = dense(2, 3);
  laplace.layer = {"l", laplace.layer.weight_mean(), laplace.layer.bias_mean(), laplace.layer.weights(),
                   IndependentBias{Vector::Ones(3), EntryLaw(EntryLaw::Family::Laplace)}};
  const Network network = build_network({laplace, GaussianNoiseSpec{0.5}});
  ASSERT_EQ(network.layer_count(), 2);
  EXPECT_EQ(std::get<IndependentBias>(network.layer(0).bias()).law.family(), EntryLaw::Family::Laplace);
}

TEST(Builder, InputNoiseIsAnEnsembleOverItsComponents) {
  InputNoise noise;
  noise.components.push_back({0.25, {}, IndependentBias{Vector::Constant(2, 0.5)}});
  noise.components.push_back({0.75, Vector::Ones(2), CorrelatedBias{Matrix::Identity(2, 2)}});
  const Ensemble ensemble = build_ensemble({dense(2, 3, false), kTanh, dense(3, 1, true, "e")}, noise);
  ASSERT_EQ(ensemble.size(), 2);
  EXPECT_EQ(ensemble.weights()(1), 0.75);
  EXPECT_EQ(ensemble.member(1).layer(0).bias_mean(), Vector::Ones(2));
  EXPECT_EQ(ensemble.member(1).front(), nullptr);
  EXPECT_THROW(build_network({dense(2, 3)}, noise), InvalidArgument);
}

TEST(Builder, MixturesAreEnsembles) {
  const MixtureSpec mixture{{0.2, 0.8}, {dense(2, 2, false, "a"), dense(2, 2, true, "b")}};
  const Ensemble ensemble = build_ensemble({mixture, kTanh, ResidualSpec{{mixture}}, dense(2, 1, true, "e")});
  ASSERT_EQ(ensemble.size(), 4);
  EXPECT_NEAR(ensemble.weights()(0), 0.04, 1e-15);
  EXPECT_NEAR(ensemble.weights().maxCoeff(), 0.64, 1e-15);
  EXPECT_NE(ensemble.member(0).front(), nullptr);  // a deterministic choice is evaluated
  const std::vector<LayerSpec> many(13, mixture);
  try {
    build_ensemble(many);
    ADD_FAILURE() << "no exception";
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("8192 networks, at most 4096"), std::string::npos)
        << error.what();
  }
}

TEST(Builder, ResidualCarriesItsSkip) {
  const Network network = build_network(
      {dense(2, 2), kTanh, ResidualSpec{{dense(2, 3, true, "in"), kRelu, dense(3, 2, true, "out")}}});
  ASSERT_EQ(network.layer_count(), 3);
  const DenseLayer& first = network.layer(1);
  EXPECT_EQ(first.outputs(), 5);
  EXPECT_EQ(function_of(network, 1), ActivationFunction::Tanh);
  EXPECT_EQ(std::get<MeanFieldWeights>(first.weights()).variance.bottomRows(2), Matrix::Zero(2, 2));
  EXPECT_EQ(network.activation(2).unchanged(), (std::vector<bool>{false, false, false, true, true}));
  const DenseLayer& last = network.layer(2);
  EXPECT_EQ(last.outputs(), 2);
  EXPECT_EQ(last.inputs(), 5);
  EXPECT_EQ(last.weight_mean().rightCols(2), Matrix::Identity(2, 2));
  EXPECT_EQ(std::get<MeanFieldWeights>(last.weights()).variance.rightCols(2), Matrix::Zero(2, 2));
}

TEST(Builder, BlocksInBlocksCarryBothSkips) {
  const Network network = build_network(
      {dense(2, 2), kTanh,
       ResidualSpec{{dense(2, 2, true, "a"), kRelu, ResidualSpec{{dense(2, 2, true, "b")}}, kTanh}}});
  // a with x beside it, b + its own skip with x beside it, and the sum behind tanh.
  ASSERT_EQ(network.layer_count(), 4);
  EXPECT_EQ(network.layer(1).outputs(), 4);
  EXPECT_EQ(network.layer(2).outputs(), 4);
  EXPECT_EQ(network.layer(2).weight_mean().topLeftCorner(2, 2),
            Matrix::Constant(2, 2, 0.5) + Matrix::Identity(2, 2));
  EXPECT_EQ(network.layer(2).weight_mean().bottomRightCorner(2, 2), Matrix::Identity(2, 2));
  EXPECT_EQ(network.activation(3).unchanged(), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(network.layer(3).outputs(), 2);
}

TEST(Builder, StochasticConvolutionsInsideAResidualBlockKeepTheirLaw) {
  Generator generator = make_generator(3, Stream::Example);
  const LayerShape shape{2, {3, 2}, true};
  const Conv2dSpec inside = testing::same_convolution(generator, shape, true);
  const Network network = build_network({ResidualSpec{{kTanh, inside}}});
  const Network alone = build_network({inside});
  ASSERT_EQ(network.layer_count(), 2);
  const Vector x = testing::random_vector(generator, 12);
  Vector carried(24);
  carried << x, Vector::Zero(12);
  const DenseLayer::Pushed got = network.layer(1).push(carried, 1);
  const DenseLayer::Pushed expected = alone.layer(0).push(x, 1);
  EXPECT_EQ(got.covariances[0].block_size(), 6);
  EXPECT_TRUE(testing::is_close(got.means, expected.means, 1e-14));
  EXPECT_TRUE(testing::is_close(got.covariances[0].to_dense(), expected.covariances[0].to_dense(), 1e-13));
}

TEST(Builder, MergedDropoutsLoseNeitherSmallRatesNorSmallRests) {
  const auto network = [](double rate) {
    return build_network({dense(2, 3), kRelu, DropoutSpec{rate}, DropoutSpec{rate}, dense(3, 1, true, "e")});
  };
  EXPECT_DOUBLE_EQ(network(1e-17).mask(1).rate(), 2e-17);
  EXPECT_DOUBLE_EQ(network(1e-12).mask(1).rate(), 2e-12 - 1e-24);
  EXPECT_EQ(network(0.5).layer_count(), 2);
  EXPECT_EQ(network(1.0 - 1e-8).layer_count(), 3);
}

TEST(Builder, ADroppedInputIsOneForTheResidualBlockAndItsSkip) {
  const Network network = build_network({DropoutSpec{0.5}, ResidualSpec{{dense(2, 2)}}});
  ASSERT_EQ(network.layer_count(), 2);
  // Two masked coordinates, not four: the skip is made behind the mask.
  EXPECT_EQ(network.layer(0).outputs(), 2);
  EXPECT_EQ(network.mask(1).rate(), 0.5);
  ASSERT_EQ(network.layer(1).inputs(), 2);
  EXPECT_EQ(network.layer(1).weight_mean(), Matrix::Constant(2, 2, 0.5) + Matrix::Identity(2, 2));
}

TEST(Builder, BatchNormPerPixelIsNotFoldedIntoAConvolution) {
  // One kernel entry, two pixels: behind the flatten each has a scale of its own, so the outputs are 10 xi
  // and xi / 10.
  Conv2dSpec conv{"c", 1, 1, {1, 2}, {}, 1, Vector::Zero(1), Vector::Ones(1), {}, {}};
  BatchNormSpec norm{"n", Vector(2), Vector::Zero(2), Vector::Zero(2), Vector::Ones(2), 0.0};
  norm.weight << 10.0, 0.1;
  const Network network = build_network({conv, FlattenSpec{}, norm});
  ASSERT_EQ(network.layer_count(), 2);
  EXPECT_EQ(std::get<SharedWeights>(network.layer(0).weights()).variance(0), 1.0);
  EXPECT_EQ(network.layer(1).weight_mean().diagonal(), norm.weight);
  // One scale for all rows of a parameter is folded, also behind a flatten.
  norm.weight << 10.0, 10.0;
  const Network folded = build_network({conv, FlattenSpec{}, norm});
  ASSERT_EQ(folded.layer_count(), 1);
  EXPECT_EQ(std::get<SharedWeights>(folded.layer(0).weights()).variance(0), 100.0);
}

Conv2dSpec convolution(Index in, Index out, Size2d image, Window2d window, Index groups = 1) {
  Conv2dSpec spec{"c", in, out, image, window, groups, {}, {}, {}, {}};
  const Index entries =
      out * std::max<Index>(1, in / std::max<Index>(1, groups)) * window.kernel.height * window.kernel.width;
  spec.kernel_mean = Vector::Ones(entries);
  return spec;
}

struct Refusal {
  std::vector<LayerSpec> layers;
  std::string message;
};

class RefusedNetwork : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedNetwork, InOneLine) {
  try {
    (void)build_network(GetParam().layers).layer_count();  // some are written out
    ADD_FAILURE() << "no exception, expected " << GetParam().message;
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(GetParam().message), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

const Window2d kThree{{3, 3}, {1, 1}, {0, 0}, {1, 1}};
const Window2d kFive{{5, 5}, {1, 1}, {0, 0}, {1, 1}};
const LayerSpec kImage = convolution(2, 2, {4, 4}, {{1, 1}, {1, 1}, {0, 0}, {1, 1}});

INSTANTIATE_TEST_SUITE_P(
    All, RefusedNetwork,
    ::testing::Values(
        Refusal{{}, "at least one layer"},
        Refusal{{convolution(1, 1, {4, 4}, kFive)},
                "kernel: expected one that fits into the padded input of 4 x 4, got 5 x 5"},
        Refusal{{convolution(1, 1, {4, 4}, {{3, 3}, {1, 1}, {0, 0}, {2, 2}})}, "got 5 x 5"},
        Refusal{{kImage, convolution(3, 1, {4, 4}, kThree)},
                "in: expected 2 (channels of the layer before), got 3"},
        Refusal{{kImage, convolution(2, 1, {5, 4}, kThree)}, "height and width: expected 4 x 4"},
        Refusal{{convolution(3, 2, {4, 4}, kThree, 2)}, "groups: expected a divisor of 3 and 2"},
        Refusal{{convolution(1, 1, {4, 4}, {{3, 3}, {0, 1}, {0, 0}, {1, 1}})},
                "stride: expected integers of at least 1"},
        Refusal{{convolution(1, 1, {4, 4}, {{3, 3}, {1, 1}, {-1, 0}, {1, 1}})},
                "padding: expected integers of at least 0"},
        Refusal{{kImage, MaxPool2dSpec{kFive}}, "max_pool2d: kernel"},
        Refusal{{kImage, AvgPool2dSpec{{{2, 2}, {1, 1}, {2, 0}, {1, 1}}}}, "padding: expected at most half"},
        Refusal{{MaxPool2dSpec{kThree}, dense(2, 2)}, "max_pool2d: expected a conv2d before it"},
        Refusal{{dense(4, 4), MaxPool2dSpec{kThree}}, "got a vector of 4"},
        Refusal{{kImage, dense(32, 1)}, "a flatten between"},
        Refusal{{dense(2, 3), dense(2, 1)}, "in: expected 3 (outputs of the layer before), got 2"},
        Refusal{{dense(2, 3), convolution(1, 1, {2, 2}, kThree)}, "expected 3 values"},
        Refusal{{dense(2, 3), DropoutSpec{1.0}}, "rate: expected a number in [0, 1), got 1"},
        Refusal{{GaussianDropoutSpec{-0.5}, dense(2, 3)}, "rate"},
        Refusal{{GaussianNoiseSpec{-1.0}, dense(2, 3)}, "std"},
        Refusal{{kImage, BatchNormSpec{"n", Vector::Ones(3), Vector::Ones(3), Vector::Ones(3),
                                       Vector::Ones(3), 1e-5}},
                "features: expected 2 (channels of the layer before), got 3"},
        Refusal{{dense(2, 3),
                 BatchNormSpec{"n", Vector::Ones(3), Vector::Ones(2), Vector::Ones(3), Vector::Ones(3), 0}},
                "bias: expected 3 values, got 2"},
        Refusal{{dense(2, 1),
                 BatchNormSpec{"n", Vector::Ones(1), Vector::Ones(1), Vector::Ones(1), Vector::Zero(1), 0}},
                "running_variance"},
        Refusal{{dense(2, 2), ResidualSpec{{dense(2, 3)}}},
                "residual: expected layers that keep the shape 2, got 3"},
        Refusal{{dense(2, 2), ResidualSpec{{DropoutSpec{0.5}, dense(2, 2)}}},
                "dropout: drops a part of what later layers see"},
        Refusal{{dense(2, 2), ResidualSpec{}}, "residual: expected at least one layer"},
        Refusal{{dense(2, 2),
                 ResidualSpec{{DenseSpec{{"k", Matrix::Zero(2, 2), Vector::Zero(2),
                                          KroneckerWeights{Matrix::Identity(2, 2), Matrix::Identity(2, 2)},
                                          DeterministicBias{}}}}}},
                "expected deterministic, mean-field or convolution weights, got kronecker"},
        Refusal{{MixtureSpec{{0.5, 0.4}, {dense(2, 2), dense(2, 2)}}},
                "weights: expected a sum of 1, got 0.9"},
        Refusal{{MixtureSpec{{0.5, 0.5}, {dense(2, 2), dense(2, 3)}}},
                "mixture: dense 'd': expected 2 inputs"},
        Refusal{{MixtureSpec{{0.5, 0.5}, {dense(2, 2), dense(2, 2)}}}, "an ensemble of 2 networks"},
        Refusal{{kTanh}, "a layer that tells the number of inputs"}));

TEST(Builder, SaysHowLargeAMatrixWouldBe) {
  Conv2dSpec large = convolution(16, 16, {64, 64}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}});
  large.kernel_variance = large.kernel_mean;
  try {
    (void)build_network({large}).layer_count();
    ADD_FAILURE() << "no exception";
  } catch (const ResourceError& error) {
    EXPECT_STREQ(error.what(),
                 "conv2d 'c' needs 32768 MiB written out as a matrix, 2048 MiB of 2048 MiB are left; a "
                 "formal bound needs that, certify --simulate, answer --simulate and sample do not");
  }
  large.kernel_variance.resize(0);  // as features it is no matrix
  EXPECT_NO_THROW(build_network({large, FlattenSpec{}, dense(65536, 1)}));
  // Work that a short list of numbers may ask for is bounded, too.
  const Index side = 30000;
  Conv2dSpec tiny = convolution(1, 1, {side, side}, {{1, 1}, {1, 1}, {0, 0}, {1, 1}});
  const Window2d half{{side / 2, side / 2}, {1, 1}, {0, 0}, {1, 1}};
  EXPECT_THROW(build_network({tiny, MaxPool2dSpec{half}}), ResourceError);
}

}  // namespace network_builder_test
}  // namespace mixcert
