// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers written out as matrices: pointwise against direct loops, laws of convolutions against the definition
// (N.3), their gain against the paper's constant (L.2), maxima as networks (L.4), folded batch norm (L.3).
#include "network/layers/layer_expansion.h"

#include <gtest/gtest.h>

#include "mixcert/network/network_builder.h"
#include "mixture/symmetric_eigen.h"
#include "network/layers/layer_transforms.h"
#include "support/matchers.h"
#include "support/naive_layer.h"
#include "support/naive_specs.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert {
namespace layer_expansion_test {

using testing::is_close;
using testing::random_index;
using testing::Tolerance;

constexpr std::uint64_t kMemory = std::uint64_t{1} << 28U;

/// Keeps every layer out of the front.
InputNoise no_noise() { return {{{1.0, {}, DeterministicBias{}}}}; }

class Expansion : public ::testing::TestWithParam<int> {
 protected:
  void expect_equal(const std::vector<LayerSpec>& layers, const LayerShape& shape) {
    const Network network = build_network(layers, no_noise(), {kMemory});
    ASSERT_EQ(network.front(), nullptr);
    const Vector x = testing::random_vector(generator_, shape.size());
    const auto expected = testing::naive_layers(layers, shape, testing::exact(x));
    const auto got = testing::naive_canonical(network, x);
    const double size = testing::distance(expected, testing::ExactVector(expected.size(), 0));
    EXPECT_LE(testing::distance(got, expected), 1e-12 * (1.0 + size));
  }

  Generator generator_ = make_generator(static_cast<std::uint64_t>(GetParam()), Stream::Example, 7);
  LayerShape shape_{2 * random_index(generator_, 1, 2),
                    {random_index(generator_, 3, 5), random_index(generator_, 3, 5)},
                    true};
};

TEST_P(Expansion, ConvolutionIsAMatrix) {
  expect_equal({testing::random_convolution(generator_, shape_, false)}, shape_);
}

TEST_P(Expansion, PoolsAreMatricesAndMaxima) {
  const LayerSpec same = testing::same_convolution(generator_, shape_, false);
  const Window2d window = testing::random_window(generator_, shape_.image, true);
  expect_equal({same, AvgPool2dSpec{window}}, shape_);
  expect_equal({same, MaxPool2dSpec{window}}, shape_);
  expect_equal({same, testing::activation_spec(ActivationFunction::Tanh), MaxPool2dSpec{window}}, shape_);
}

TEST_P(Expansion, MaximumOfEqualValuesAndWholeImages) {
  const LayerSpec same = testing::same_convolution(generator_, shape_, false);
  expect_equal({same, MaxPool2dSpec{{shape_.image, {1, 1}, {0, 0}, {1, 1}}}}, shape_);
  Conv2dSpec constant = testing::same_convolution(generator_, shape_, false);
  constant.kernel_mean.setZero();
  expect_equal({constant, MaxPool2dSpec{{{2, 2}, {1, 1}, {1, 1}, {1, 1}}}}, shape_);
}

TEST_P(Expansion, BatchNormIsFoldedOrAMatrix) {
  const LayerSpec same = testing::same_convolution(generator_, shape_, false);
  const LayerSpec norm = testing::random_batch_norm(generator_, shape_.channels);
  expect_equal({norm, same, norm}, shape_);
  expect_equal({same, testing::activation_spec(ActivationFunction::Relu), norm}, shape_);
}

TEST_P(Expansion, ResidualIsTheSumOfSkipAndBlock) {
  const LayerSpec a = testing::same_convolution(generator_, shape_, false, "a");
  const LayerSpec b = testing::same_convolution(generator_, shape_, false, "b");
  const LayerSpec relu = testing::activation_spec(ActivationFunction::Relu);
  const LayerSpec tanh = testing::activation_spec(ActivationFunction::Tanh);
  const LayerSpec norm = testing::random_batch_norm(generator_, shape_.channels);
  const LayerSpec pool = MaxPool2dSpec{{{3, 3}, {1, 1}, {1, 1}, {1, 1}}};
  expect_equal({a, ResidualSpec{{b}}}, shape_);
  expect_equal({ResidualSpec{{a, relu, b}}, tanh}, shape_);
  expect_equal({a, tanh, ResidualSpec{{relu, b, relu}}, b}, shape_);
  expect_equal({a, relu, ResidualSpec{{norm, tanh, a, norm, relu, b, norm}}}, shape_);
  expect_equal({a, ResidualSpec{{relu}}, ResidualSpec{{pool, b}}}, shape_);
  expect_equal({a, FlattenSpec{}, ResidualSpec{{FlattenSpec{}}}}, shape_);
}

/// Cov(y[c,p], y[e,q]) = [c = e] (Var b_c + sum over taps of Var k x(p, tap) x(q, tap)).
Matrix naive_conv_covariance(const Conv2dSpec& spec, const LayerShape& after, const Vector& x) {
  const Index inner = spec.in / spec.groups;
  const Index taps = spec.window.kernel.height * spec.window.kernel.width;
  const Index pixels = spec.image.height * spec.image.width;
  const auto seen = [&](Index c, Index p) {  // what each kernel entry of channel c is multiplied with
    Vector values = Vector::Zero(inner * taps);
    for (Index d = 0; d < inner; ++d) {
      const Index channel = c / (spec.out / spec.groups) * inner + d;
      testing::naive_taps(spec.window, spec.image, p / after.image.width, p % after.image.width,
                          [&](Index i, Index j, Index pixel) {
                            values(d * taps + i * spec.window.kernel.width + j) = x(channel * pixels + pixel);
                          });
    }
    return values;
  };
  const Index positions = after.positions();
  return Matrix::NullaryExpr(after.size(), after.size(), [&](Index row, Index column) {
    const Index c = row / positions;
    if (c != column / positions) return 0.0;
    const Vector variance = spec.kernel_variance.segment(c * inner * taps, inner * taps);
    const Vector one = seen(c, row % positions);
    return spec.bias_variance(c) + one.cwiseProduct(variance).dot(seen(c, column % positions));
  });
}

TEST_P(Expansion, OutputsOfAConvolutionAreCorrelatedOverPositions) {
  const Conv2dSpec spec = testing::random_convolution(generator_, shape_, true);
  MemoryBudget budget(kMemory);
  const DenseLayer layer = expand_convolution(spec, budget);
  const Vector x = testing::random_vector(generator_, shape_.size());
  const DenseLayer::Pushed pushed = layer.push(x, 1);
  const LayerShape after = *shape_after_convolution(spec, shape_);
  EXPECT_EQ(pushed.covariances[0].block_size(), after.positions());
  EXPECT_TRUE(is_close(pushed.covariances[0].to_dense(), naive_conv_covariance(spec, after, x),
                       Tolerance::linear_algebra));
  // The same family, entry by entry, and over two inputs jointly.
  if (layer.inputs() * layer.outputs() > 400) return;
  const Vector two = testing::random_vector(generator_, 2 * shape_.size());
  EXPECT_TRUE(is_close(layer.push(two, 2).covariances[0].to_dense(),
                       testing::naive_push(layer, two, 2).covariance.to_dense(), Tolerance::linear_algebra));
}

TEST_P(Expansion, MomentsOfAConvolutionLeaveOutTheBias) {
  const Conv2dSpec spec = testing::random_convolution(generator_, shape_, true);
  MemoryBudget budget(kMemory);
  const DenseLayer layer = expand_convolution(spec, budget);
  const Vector g = testing::random_positive(generator_, layer.outputs(), 1.0);
  Matrix gram = Matrix::Zero(layer.inputs(), layer.inputs());
  Vector rows = Vector::Zero(layer.outputs());
  const auto& law = std::get<SharedWeights>(layer.weights());
  for (const auto& place : law.places) {
    for (const auto& other : law.places) {  // E[(W-M)_ij (W-M)_il] by the definition
      const bool same = place.row == other.row && place.parameter == other.parameter;
      if (!same || place.column == layer.inputs() || other.column == layer.inputs()) continue;
      gram(place.column, other.column) += g(place.row) * law.variance(place.parameter);
      rows(place.row) += law.variance(place.parameter);
    }
  }
  EXPECT_TRUE(is_close(layer.centred_gram(g), gram, Tolerance::linear_algebra));
  EXPECT_TRUE(is_close(Matrix(layer.row_variances()), Matrix(rows), Tolerance::linear_algebra));
  const Index positions = layer.outputs() / spec.out;
  for (Index i = 0; i < layer.outputs(); ++i) {
    EXPECT_EQ(layer.bias_variances()(i), spec.bias_variance(i / positions));
  }
}

double spectral_norm(const Matrix& matrix) { return singular_values(matrix).values(0); }

TEST_P(Expansion, GainIsNoWorseThanThePapers) {
  const Conv2dSpec spec = testing::random_convolution(generator_, shape_, true);
  MemoryBudget budget(kMemory);
  const DenseLayer layer = expand_convolution(spec, budget);
  const Matrix second = layer.second_moment_gram(Vector::Ones(layer.outputs()));
  const double gain = symmetric_eigen(second).values.maxCoeff();
  // m: how often an input pixel contributes to one output channel.
  Vector uses = Vector::Zero(spec.image.height * spec.image.width);
  const Size2d out = window_positions(spec.window, spec.image);
  for (Index p = 0; p < out.height * out.width; ++p) {
    testing::naive_taps(spec.window, spec.image, p / out.width, p % out.width,
                        [&](Index, Index, Index pixel) { uses(pixel) += 1.0; });
  }
  // |K| + (E|K - EK|_F^2)^(1/2) of the kernel as a matrix; the largest of the groups.
  const Index taps = spec.kernel_mean.size() / spec.out;
  const Index per_group = spec.out / spec.groups;
  double largest = 0.0;
  for (Index group = 0; group < spec.groups; ++group) {
    const Eigen::Map<const Matrix> kernel(spec.kernel_mean.data() + group * per_group * taps, taps,
                                          per_group);
    const double spread = spec.kernel_variance.segment(group * per_group * taps, per_group * taps).sum();
    largest = std::max(largest, spectral_norm(kernel) + std::sqrt(spread));
  }
  EXPECT_LE(std::sqrt(gain), std::sqrt(uses.maxCoeff()) * largest * (1.0 + Tolerance::eigenvalues));
}

INSTANTIATE_TEST_SUITE_P(RandomShapes, Expansion, ::testing::Range(0, 24));

class FoldedBatchNorm : public ::testing::TestWithParam<testing::WeightFamily> {};

TEST_P(FoldedBatchNorm, ScalesTheLawOfEveryFamily) {
  Generator generator = make_generator(5, Stream::Example);
  for (const testing::BiasFamily bias : testing::all_bias_families()) {
    testing::LayerRecipe recipe;
    recipe.weights = GetParam();
    recipe.bias = bias;
    const DenseLayer layer = testing::random_layer(generator, recipe);
    const Vector scale = testing::random_vector(generator, layer.outputs());
    const Vector shift = testing::random_vector(generator, layer.outputs());
    const DenseLayer folded = scaled_rows(layer, scale, shift);
    const Matrix entries = testing::naive_entry_covariance(layer);
    const Vector wide = scale.transpose().replicate(layer.inputs() + 1, 1).reshaped();
    EXPECT_TRUE(is_close(testing::naive_entry_covariance(folded),
                         wide.asDiagonal() * entries * wide.asDiagonal(), Tolerance::linear_algebra));
    EXPECT_TRUE(is_close(Matrix(folded.bias_mean()), Matrix(scale.cwiseProduct(layer.bias_mean()) + shift),
                         Tolerance::linear_algebra));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, FoldedBatchNorm, ::testing::ValuesIn(testing::all_weight_families()),
                         [](const auto& test) { return testing::to_string(test.param); });

TEST(FoldedBatchNormOf, ASharedLawScalesEachChannel) {
  Generator generator = make_generator(6, Stream::Example);
  const Conv2dSpec spec = testing::same_convolution(generator, {2, {3, 3}, true}, true);
  MemoryBudget budget(kMemory);
  const DenseLayer layer = expand_convolution(spec, budget);
  const BatchNormScale scale = batch_norm_scale(testing::random_batch_norm(generator, 2), {2, {3, 3}, true});
  const DenseLayer folded = scaled_rows(layer, scale.scale, scale.shift);
  const Vector x = testing::random_vector(generator, layer.inputs());
  const Matrix plain = layer.push(x, 1).covariances[0].to_dense();
  EXPECT_TRUE(is_close(folded.push(x, 1).covariances[0].to_dense(),
                       scale.scale.asDiagonal() * plain * scale.scale.asDiagonal(),
                       Tolerance::linear_algebra));
}

}  // namespace layer_expansion_test
}  // namespace mixcert
