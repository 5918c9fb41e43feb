// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Deterministic layers in front: values against direct loops in long double, over random geometry; the bound
// of the rounding errors holds and is small (L.1).
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "support/naive_specs.h"
#include "support/random_specs.h"

namespace mixcert {
namespace feature_map_test {

using testing::activation_spec;
using testing::random_index;

class Features : public ::testing::TestWithParam<int> {
 protected:
  /// One more layer; keeps track of the shape.
  void add(LayerSpec spec) {
    shape_ = shape_after(spec, shape_);
    layers_.push_back(std::move(spec));
  }

  /// The layers behind each other, then a random dense layer; checks the features.
  void check() {
    add(FlattenSpec{});
    std::vector<LayerSpec> all = layers_;
    const Index size = shape_.size();
    all.emplace_back(DenseSpec{{"head", Matrix::Ones(1, size), Vector::Zero(1),
                                MeanFieldWeights{Matrix::Ones(1, size)}, DeterministicBias{}}});
    const Network network = build_network(all);
    ASSERT_EQ(network.layer_count(), 1);
    ASSERT_EQ(network.inputs(), start_.size());
    for (const double scale : {1.0, 1e-6, 1e8}) {
      const Vector x = scale * testing::random_vector(generator_, start_.size());
      const Network::Features features = network.features(x);
      const auto exact = testing::naive_layers(layers_, start_, testing::exact(x));
      const double distance = testing::distance(testing::exact(features.values.col(0)), exact);
      EXPECT_LE(distance, features.errors(0));
      EXPECT_LE(features.errors(0), 1e-9 * (features.values.norm() + scale));
    }
  }

  Generator generator_ = make_generator(static_cast<std::uint64_t>(GetParam()), Stream::Example);
  LayerShape start_{2 * random_index(generator_, 1, 2),
                    {random_index(generator_, 3, 7), random_index(generator_, 3, 7)},
                    true};
  LayerShape shape_ = start_;
  std::vector<LayerSpec> layers_;
};

TEST_P(Features, OfConvolutionsAreTheSumsOfTheDefinition) {
  add(testing::random_convolution(generator_, shape_, false));
  check();
}

TEST_P(Features, OfPools) {
  add(testing::same_convolution(generator_, shape_, false));
  add(AvgPool2dSpec{testing::random_window(generator_, shape_.image, true)});
  add(MaxPool2dSpec{testing::random_window(generator_, shape_.image, true)});
  check();
}

TEST_P(Features, OfDeepStacks) {
  add(testing::random_batch_norm(generator_, shape_.channels, "first"));
  add(testing::random_convolution(generator_, shape_, false, "a"));
  add(activation_spec(ActivationFunction::Tanh));
  add(ResidualSpec{{testing::same_convolution(generator_, shape_, false, "r"),
                    activation_spec(ActivationFunction::Relu),
                    ResidualSpec{{activation_spec(ActivationFunction::Sigmoid)}},
                    testing::same_convolution(generator_, shape_, false, "s")}});
  add(testing::random_batch_norm(generator_, shape_.channels));
  add(activation_spec(ActivationFunction::LeakyRelu));
  add(MaxPool2dSpec{testing::random_window(generator_, shape_.image, true)});
  add(FlattenSpec{});
  const Index size = shape_.size();
  add(DenseSpec{{"dense", testing::random_matrix(generator_, 5, size), testing::random_vector(generator_, 5),
                 DeterministicWeights{}, DeterministicBias{}}});
  add(activation_spec(ActivationFunction::Softplus));
  check();
}

INSTANTIATE_TEST_SUITE_P(RandomShapes, Features, ::testing::Range(0, 24));

/// Cancellation: the errors of the first layer are all that is left of the values.
TEST(FeatureErrors, HoldWhereValuesCancel) {
  const double huge = 1e15;
  DenseLayer first("0", Matrix::Constant(2, 3, 1.0 / 3.0), Vector::Constant(2, huge), DeterministicWeights{},
                   DeterministicBias{});
  DenseLayer second("1", (Matrix(1, 2) << 1.0, -1.0 / 3.0).finished(), Vector::Constant(1, -2.0 / 3.0 * huge),
                    DeterministicWeights{}, DeterministicBias{});
  const std::vector<LayerSpec> layers = {DenseSpec{first}, DenseSpec{second}};
  std::vector<LayerSpec> all = layers;
  all.emplace_back(GaussianNoiseSpec{1.0});
  const Network network = build_network(all);
  const Vector x = (Vector(3) << 0.1, 0.7, -1.3).finished();
  const auto features = network.features(x);
  const auto exact = testing::naive_layers(layers, {3, {}, false}, testing::exact(x));
  EXPECT_GT(testing::distance(testing::exact(features.values.col(0)), exact), 0.0);
  EXPECT_LE(testing::distance(testing::exact(features.values.col(0)), exact), features.errors(0));
}

TEST(FeatureErrors, OverflowIsRefused) {
  const std::vector<LayerSpec> layers = {DenseSpec{{"0", Matrix::Constant(1, 1, 1e200), Vector::Zero(1),
                                                    DeterministicWeights{}, DeterministicBias{}}},
                                         GaussianNoiseSpec{1.0}};
  const Network network = build_network(layers);
  EXPECT_THROW((void)network.features(Vector::Constant(1, 1e200)), InvalidArgument);
}

/// Two convolutions of 32 and 64 channels on an image of 32 x 32 x 3. The limit leaves a slow machine room.
TEST(FeatureSpeed, OfTheUsualConvolutions) {
  Generator generator = make_generator(1, Stream::Example);
  const auto convolution = [&](Index in, Index out, Index size) {
    Conv2dSpec spec;
    spec.name = std::to_string(size);
    spec.in = in;
    spec.out = out;
    spec.image = {size, size};
    spec.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}};
    testing::fill_convolution(generator, spec, false);
    return spec;
  };
  const Window2d half{{2, 2}, {2, 2}, {0, 0}, {1, 1}};
  const LayerSpec relu = activation_spec(ActivationFunction::Relu);
  const Network network =
      build_network({convolution(3, 32, 32), relu, MaxPool2dSpec{half}, convolution(32, 64, 16), relu,
                     MaxPool2dSpec{half}, FlattenSpec{}, GaussianNoiseSpec{1.0}},
                    {}, {std::uint64_t{4} << 30U});
  const Vector x = testing::random_vector(generator, 3072);
  const auto start = std::chrono::steady_clock::now();
  const auto features = network.features(x);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(features.values.size(), 4096);
  EXPECT_LT(seconds.count(), 1.0);
  RecordProperty("milliseconds", static_cast<int>(1000.0 * seconds.count()));
}

}  // namespace feature_map_test
}  // namespace mixcert
