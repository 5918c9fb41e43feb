// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers as operators: values against direct loops, transposes by inner products, noise against the drawn
// layer, and whole graphs against the layers' definitions.
#include "network/graph/layer_graph.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "network/graph/graph_paths.h"
#include "network/graph/patches.h"
#include "support/matchers.h"
#include "support/naive_specs.h"
#include "support/random_specs.h"

namespace mixcert {
namespace layer_graph_test {

using testing::activation_spec;
using testing::exact;
using testing::random_index;
using testing::random_matrix;
using testing::random_vector;

NormalSource source_of(Generator& generator) {
  return [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); };
}

class Operators : public ::testing::TestWithParam<int> {
 protected:
  void expect_close(const Vector& got, const testing::ExactVector& expected) {
    const double size = testing::distance(expected, testing::ExactVector(expected.size(), 0));
    ASSERT_EQ(got.size(), static_cast<Index>(expected.size()));
    EXPECT_LE(testing::distance(exact(got), expected), 1e-12 * (1.0 + size));
  }
  /// <y, M x> = <M'y, x>, M without its bias.
  void expect_adjoint(const AffineOperator& layer) {
    const Matrix x = random_matrix(generator_, layer.inputs(), 2),
                 y = random_matrix(generator_, layer.outputs(), 2);
    const Vector bias = layer.apply(Matrix::Zero(layer.inputs(), 1));
    const Matrix image = layer.apply(x).colwise() - bias, back = layer.transpose(y);
    for (Index i = 0; i < 2; ++i) {
      const double forth = y.col(i).dot(image.col(i));
      EXPECT_NEAR(back.col(i).dot(x.col(i)), forth, 1e-11 * (1.0 + std::abs(forth)));
    }
  }
  /// carried_noise at fixed activations is what draws add there, seen from cotangents. `square`: those of
  /// `x`.
  void expect_carried(const AffineOperator& layer) {
    const Vector x = random_vector(generator_, layer.inputs());
    const Matrix normals = random_matrix(generator_, layer.normals(), 1);
    const Matrix cotangents = random_matrix(generator_, layer.outputs(), 3);
    const Vector noise = layer.draw(x, normals) - layer.apply(x);
    const Matrix carried = layer.carried_noise({x, x.cwiseAbs2()}, cotangents);
    ASSERT_EQ(carried.rows(), layer.normals());
    const Vector seen = cotangents.transpose() * noise, linear = carried.transpose() * normals.col(0);
    EXPECT_LE((seen - linear).norm(), 1e-11 * (1.0 + seen.norm()));
  }

  /// M x without the bias, R R' against carried_noise, E V'QV against R, which is linear in x but for biases,
  /// and sizes against all of these.
  void expect_second_moments(const AffineOperator& layer) {
    const Index in = layer.inputs(), out = layer.outputs();
    const Matrix identity = Matrix::Identity(in, in), all = Matrix::Identity(out, out);
    const Vector zero = Vector::Zero(in), x = random_vector(generator_, in);
    const Matrix mean = layer.apply(identity).colwise() - Vector(layer.apply(zero));
    EXPECT_LE((layer.linear(identity) - mean).norm(), 1e-12 * (1.0 + mean.norm()));
    const AffineOperator::Sizes sizes = layer.sizes();
    EXPECT_GE(sizes.mean_square, mean.squaredNorm() * (1.0 - 1e-12));
    const Matrix noise = layer.carried_noise({x, x.cwiseAbs2()}, all);
    Matrix covariance = Matrix::Zero(out, out);
    Index columns = 0;
    for (const auto& [first, block] : layer.noise_blocks(x)) {
      covariance.block(first, first, block.rows(), block.rows()) += block * block.transpose();
      columns += block.cols();
    }
    EXPECT_EQ(columns, layer.normals());
    EXPECT_LE((covariance - noise.transpose() * noise).norm(), 1e-11 * (1.0 + covariance.norm()));
    const Matrix root = random_matrix(generator_, out, out), q = root * root.transpose();
    const Matrix gram = layer.noise_gram(q);
    const auto variance = [&](const Vector& at) {
      const Matrix r = layer.carried_noise({at, at.cwiseAbs2()}, all);
      return (q * (r.transpose() * r)).trace();
    };
    // tr(Q R R') is a quadratic form in x and, for biases, a constant.
    EXPECT_NEAR(x.dot(gram * x), variance(x) - variance(zero), 1e-10 * (1.0 + variance(x)));
    EXPECT_NEAR(
        gram.trace(),
        [&] {
          double sum = 0.0;
          for (Index j = 0; j < in; ++j) sum += variance(Vector::Unit(in, j)) - variance(zero);
          return sum;
        }(),
        1e-9 * (1.0 + gram.trace()));
    const Matrix plain = layer.noise_gram(all);
    EXPECT_GE(sizes.noise_gram, symmetric_eigen(plain).values(in - 1) * (1.0 - 1e-12));
  }

  /// Norms of the written-out layer and of its noise are no larger than those that are promised.
  void expect_norms(const AffineOperator& layer) {
    const AffineOperator::Norms norms = layer.norms();
    const Matrix identity = Matrix::Identity(layer.inputs(), layer.inputs());
    const Vector bias = layer.apply(Matrix::Zero(layer.inputs(), 1));
    const Matrix mean = layer.apply(identity).colwise() - bias;
    const double exact_norm = singular_values(mean).values(0);
    EXPECT_GE(norms.mean, exact_norm);
    EXPECT_LE(norms.mean, 2.0 * exact_norm + 1e-12);
    const Vector x = random_vector(generator_, layer.inputs());
    const AffineOperator::NoiseAt at = layer.noise_at(x);
    if (layer.normals() == 0) return;
    const Matrix noise =
        layer.carried_noise({x, x.cwiseAbs2()}, Matrix::Identity(layer.outputs(), layer.outputs()));
    EXPECT_GE(at.largest, singular_values(noise).values(0) * (1.0 - 1e-12));
    EXPECT_LE(at.largest, 3.0 * singular_values(noise).values(0) + 1e-12);
    EXPECT_GE(at.total, noise.squaredNorm() * (1.0 - 1e-12));
    EXPECT_LE(at.total, noise.squaredNorm() * (1.0 + 1e-6) + 1e-12);
    const Vector other = x + 0.1 * random_vector(generator_, x.size());
    const Matrix moved =
        layer.carried_noise({other, other.cwiseAbs2()}, Matrix::Identity(layer.outputs(), layer.outputs()));
    EXPECT_LE(singular_values(moved - noise).values(0), at.change * (other - x).norm() * (1.0 + 1e-9));
    EXPECT_LE((layer.apply(x) - layer.apply(x)).norm(), layer.apply_error(x.norm()));
  }
  /// How much draws stretch: the fourth moment.
  void expect_stretch(const AffineOperator& layer) {
    const AffineOperator::Norms norms = layer.norms();
    const int draws = 200;
    const Matrix identity = Matrix::Identity(layer.inputs(), layer.inputs());
    double fourth = 0.0;
    for (int i = 0; i < draws; ++i) {
      const Matrix normals = random_matrix(generator_, layer.normals(), 1).replicate(1, layer.inputs());
      // Convolutions: V itself, the bias of the same draw taken off.
      const Vector bias = layer.draw(Matrix::Zero(layer.inputs(), 1), normals.leftCols(1));
      const Matrix drawn =
          (layer.draw(identity, normals).colwise() - bias) -
          (layer.apply(identity).colwise() - Vector(layer.apply(Matrix::Zero(layer.inputs(), 1))));
      fourth += std::pow(singular_values(drawn).values(0), 4) / draws;
    }
    EXPECT_GE(norms.noise + 2.0 * norms.noise_largest, 0.9 * std::sqrt(fourth));
  }

  Generator generator_ = make_generator(static_cast<std::uint64_t>(GetParam()), Stream::Example, 29);
  LayerShape shape_{2 * random_index(generator_, 1, 2),
                    {random_index(generator_, 3, 6), random_index(generator_, 3, 6)},
                    true};
};

TEST_P(Operators, ConvolutionsAreTheirLoops) {
  for (const bool stochastic : {false, true}) {
    const Conv2dSpec spec = testing::random_convolution(generator_, shape_, stochastic);
    const OperatorPointer layer = convolution_operator(spec);
    const LayerShape after = shape_after(spec, shape_);
    const Vector x = random_vector(generator_, shape_.size());
    expect_close(layer->apply(x), testing::naive_convolution(spec, after, exact(x)));
    const Matrix normals = random_matrix(generator_, layer->normals(), 2);
    Matrix batch(x.size(), 2);
    batch << x, random_vector(generator_, x.size());
    const Matrix drawn = layer->draw(batch, normals);
    for (Index i = 0; i < 2; ++i) {
      Conv2dSpec fixed = spec;
      const Index kernel = spec.kernel_variance.size(), bias = spec.bias_variance.size();
      if (kernel > 0)
        fixed.kernel_mean += spec.kernel_variance.cwiseSqrt().cwiseProduct(normals.col(i).head(kernel));
      if (bias > 0) {
        if (fixed.bias_mean.size() == 0) fixed.bias_mean = Vector::Zero(spec.out);
        fixed.bias_mean += spec.bias_variance.cwiseSqrt().cwiseProduct(normals.col(i).tail(bias));
      }
      expect_close(drawn.col(i), testing::naive_convolution(fixed, after, exact(batch.col(i))));
    }
    expect_adjoint(*layer);
    expect_carried(*layer);
    expect_norms(*layer);
    expect_second_moments(*layer);
    if (stochastic && GetParam() < 6) expect_stretch(*layer);
  }
}

TEST_P(Operators, DensePoolsScalesAndNoise) {
  const Index in = random_index(generator_, 1, 6), out = random_index(generator_, 1, 5);
  const DenseLayer layer("dense", random_matrix(generator_, out, in), random_vector(generator_, out),
                         MeanFieldWeights{random_matrix(generator_, out, in).cwiseAbs()},
                         IndependentBias{random_vector(generator_, out).cwiseAbs()});
  const OperatorPointer dense = dense_operator(layer);
  EXPECT_EQ(dense->normals(), out);
  expect_adjoint(*dense);
  expect_carried(*dense);
  expect_norms(*dense);
  expect_second_moments(*dense);
  const Window2d window = testing::random_window(generator_, shape_.image, true);
  const OperatorPointer pool = average_pool_operator(window, shape_);
  const Vector x = random_vector(generator_, shape_.size());
  const LayerShape after = shape_after(AvgPool2dSpec{window}, shape_);
  expect_close(pool->apply(x), testing::naive_pool(window, shape_, after, exact(x), false));
  expect_adjoint(*pool);
  expect_norms(*pool);
  expect_second_moments(*pool);
  expect_adjoint(
      *scale_operator(random_vector(generator_, 4), random_vector(generator_, 4), Vector::Ones(4)));
  expect_carried(*noise_operator(Vector::LinSpaced(5, 0.1, 0.5), Vector::Ones(5)));
  expect_second_moments(*noise_operator(Vector::LinSpaced(5, 0.1, 0.5), Vector::Ones(5)));
  expect_second_moments(
      *scale_operator(random_vector(generator_, 4), random_vector(generator_, 4), Vector::Ones(4)));
}

TEST_P(Operators, PatchesScatterIsTheTransposeOfGather) {
  const Window2d window = testing::random_window(generator_, shape_.image, false);
  const Patches patches(window, shape_.image, shape_.channels);
  const Vector image = random_vector(generator_, shape_.size());
  Matrix seen;
  patches.gather(image.data(), seen);
  const Matrix weights = random_matrix(generator_, seen.rows(), seen.cols());
  Vector back = Vector::Zero(image.size());
  patches.scatter(weights, back.data());
  EXPECT_NEAR(back.dot(image), seen.cwiseProduct(weights).sum(),
              1e-11 * (1.0 + seen.norm() * weights.norm()));
}

/// conv, batch norm, relu, max pool, a residual block, average pool, dense: every kind that has no noise.
std::vector<LayerSpec> all_kinds(Generator& generator, const LayerShape& shape, bool stochastic) {
  std::vector<LayerSpec> layers = {testing::same_convolution(generator, shape, stochastic, "first"),
                                   testing::random_batch_norm(generator, shape.channels),
                                   activation_spec(ActivationFunction::Relu)};
  layers.emplace_back(ResidualSpec{{testing::same_convolution(generator, shape, stochastic, "inner"),
                                    activation_spec(ActivationFunction::Tanh)}});
  const Window2d window{{2, 2}, {1, 1}, {0, 0}, {1, 1}};
  layers.emplace_back(MaxPool2dSpec{window});
  layers.emplace_back(AvgPool2dSpec{window});
  layers.emplace_back(FlattenSpec{});
  const Index features = layer_shapes(layers).back().size();
  layers.emplace_back(DenseSpec{DenseLayer(
      "head", random_matrix(generator, 3, features), random_vector(generator, 3),
      MeanFieldWeights{Matrix::Constant(3, features, stochastic ? 0.1 : 0.0)}, DeterministicBias{})});
  return layers;
}

TEST_P(Operators, GraphsAreTheirLayers) {
  const std::vector<LayerSpec> layers = all_kinds(generator_, shape_, false);
  const LayerGraph graph = build_graph(layers);
  EXPECT_EQ(graph.inputs(), shape_.size());
  EXPECT_EQ(graph.outputs(), 3);
  const Vector x = random_vector(generator_, shape_.size());
  const BlockRandomness none(graph, 1, source_of(generator_));
  expect_close(run_block(graph, x, none).col(0), testing::naive_layers(layers, shape_, exact(x)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Operators, ::testing::Range(0, 20));

TEST(LayerGraph, DrawsMasksOfNeuronsAndOfChannels) {
  Generator generator = make_generator(1, Stream::Example, 30);
  GraphBuilder builder({3, {2, 2}, true});
  builder.mask("dropout", Mask::bernoulli(0.25), 4);
  builder.mask("dropout", Mask::bernoulli(0.0), 1);  // no mask: no node
  builder.mask("noise", Mask::gaussian(0.5), 1);
  const LayerGraph graph = std::move(builder).finish();
  ASSERT_EQ(graph.size(), 3);
  EXPECT_EQ(graph.node(1).random_count(), 3);
  EXPECT_EQ(graph.node(2).random_count(), 12);
  const Index draws = 4000;
  const BlockRandomness randomness(graph, draws, source_of(generator));
  const Matrix y =
      run_block(graph, Vector::Ones(12), randomness, [&](Index k, const auto&, const Matrix& out) {
        if (k != 1) return;
        EXPECT_EQ(out.row(0), out.row(3));  // one factor for a channel
        EXPECT_NE(out.row(3), out.row(4));
        EXPECT_NEAR(static_cast<double>((out.row(5).array() == 0.0).count()),
                    0.25 * static_cast<double>(draws), 0.03 * static_cast<double>(draws));
      });
  EXPECT_NEAR(y.mean(), 1.0, 0.03);
}

TEST(LayerGraph, RefusesLayersWithoutAnOperator) {
  const DenseLayer kronecker("fc", Matrix::Ones(2, 2), Vector::Zero(2),
                             KroneckerWeights{Matrix::Identity(2, 2), Matrix::Identity(2, 2)},
                             DeterministicBias{});
  EXPECT_THROW((void)build_graph({DenseSpec{kronecker}}), InvalidArgument);
  EXPECT_THROW((void)build_graph({}), InvalidArgument);
}

}  // namespace layer_graph_test
}  // namespace mixcert
