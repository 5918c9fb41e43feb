// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Formal bounds of convolutional networks as graphs, docs/theory/graphs.md (O.11) - (O.17), against networks
// that are written out: the Gaussian against every random number as a column, the bound against draws of the
// very coupling that it bounds.
#include "methods/graph/graph_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "methods/graph/tangent_law.h"
#include "methods/naive_graph.h"
#include "mixcert/core/error.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace graph_chain_test {

/// Two to four activations, with pools that overlap or do not, maxima among them, batch norm, strides,
/// residual blocks and concatenations.
NaiveGraph small_network(std::uint64_t seed, Generator& generator) {
  const double noise = std::pow(10.0, -2.0 + 0.5 * static_cast<double>(seed % 5));
  const ActivationFunction function =
      seed % 3 == 2 ? ActivationFunction::Tanh
                    : (seed % 3 == 1 ? ActivationFunction::LeakyRelu : ActivationFunction::Relu);
  NaiveGraph network({1 + static_cast<Index>(seed % 2), {6, 5}, true});
  network.convolution(generator, 2, 3, 1, 1, noise);
  if (seed % 2 == 0) network.batch_norm(generator);
  if (seed % 7 == 3) network.max_pool(2, 1 + static_cast<Index>(seed / 7 % 2));
  network.activation(function);
  if (seed % 4 == 1) network.average_pool(2, 1);
  if (seed % 4 >= 2) network.residual(generator, function, noise);
  if (seed % 3 == 0) network.dense_block(generator, function, noise);
  if (seed % 8 == 6) network.average_pool(2, 2);
  const bool is_large = network.shape().image.height > 3;
  network.convolution(generator, 3, 2, is_large ? 0 : 1, 1 + static_cast<Index>(seed % 2), noise);
  if (seed % 5 == 3 && is_large) network.max_pool(2, 1);
  network.activation(function);
  if (seed % 5 == 0) {
    network.dense(generator, 4, noise);
    network.activation(ActivationFunction::Relu);
  }
  network.dense(generator, 2, noise);
  return network;
}

TEST(GraphChain, HasTheGaussianOfTheWrittenOutNetwork) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator = make_generator(seed, Stream::Example, 3100);
    NaiveGraph network = small_network(seed, generator);
    const LayerGraph graph = network.graph();
    const Vector input = random_vector(generator, graph.inputs());
    const NaiveGraph::Gaussian expected = network.surrogate(input);
    const GraphChain::Bound bound = GraphChain(graph).certify(input);
    EXPECT_LE((bound.gaussian.mean - expected.mean).norm(), 1e-6 * (1.0 + expected.mean.norm()));
    EXPECT_LE((bound.gaussian.covariance.to_dense() - expected.covariance).norm(),
              1e-6 * (1e-3 + expected.covariance.norm()));
    EXPECT_LE(bound.output_rounding, 1e-5 * std::sqrt(expected.covariance.trace()));
    for (const GraphTerm& term : bound.terms)
      EXPECT_LE(term.rounding, 1e-6 * (bound.w2 + std::sqrt(expected.covariance.trace())));
  }
}

TEST(GraphChain, IsNeverBelowTheCouplingThatItBounds) {
  double least = INFINITY, most = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator = make_generator(seed, Stream::Example, 3101);
    NaiveGraph network = small_network(seed, generator);
    const LayerGraph graph = network.graph();
    const Vector input = random_vector(generator, graph.inputs());
    (void)network.surrogate(input);
    const NaiveGraph::Cost cost = network.coupled_cost(input, generator, 1000);
    // Matrices everywhere, at the smaller nodes, and nowhere.
    for (const Index most_dense : {3000, 30, 0}) {
      const double w2 = GraphChain(graph, {.most_dense = most_dense}).certify(input).w2;
      EXPECT_TRUE(std::isfinite(w2));
      EXPECT_GE(w2 * w2, cost.mean - 4.0 * cost.error);
      if (most_dense < 3000 || !(cost.mean > 0.0)) continue;  // all neurons may be dead
      least = std::min(least, w2 / std::sqrt(cost.mean));
      most = std::max(most, w2 / std::sqrt(cost.mean));
    }
  }
  std::printf("bound over simulated coupling: %.2f to %.2f\n", least, most);
  EXPECT_GE(least, 0.95);
}

/// Behind one activation nothing is estimated but Hermite terms of rank three and more.
TEST(GraphChain, IsTheCouplingBehindOneActivation) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator = make_generator(seed, Stream::Example, 3102);
    NaiveGraph network({1, {4, 4}, true});
    network.convolution(generator, 2, 3, 1, 1, 0.3);
    network.activation(ActivationFunction::Relu);
    if (seed % 2 == 0) network.average_pool(2, 2);
    network.dense(generator, 3, 0.3);
    const LayerGraph graph = network.graph();
    const Vector input = random_vector(generator, graph.inputs());
    (void)network.surrogate(input);
    const NaiveGraph::Cost cost = network.coupled_cost(input, generator, 4000);
    const double square = std::pow(GraphChain(graph).certify(input).w2, 2);
    EXPECT_GE(square, cost.mean - 4.0 * cost.error);
    EXPECT_LE(square, 1.25 * cost.mean + 4.0 * cost.error);
  }
}

/// (O.12) - (O.14) from one activation to the next: E |f(W u) - f(W u')|^2 in the later form is no more than
/// |u - u'|^2 in the earlier one.
TEST(GraphForms, GrowNowhere) {
  double most = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator = make_generator(seed, Stream::Example, 3103);
    const NaiveGraph network = small_network(seed, generator);
    const LayerGraph graph = network.graph();
    bool has_maxima = false;
    for (Index k = 0; k < graph.size(); ++k)
      has_maxima = has_maxima || std::holds_alternative<MaximumNode>(graph.node(k).work);
    if (has_maxima) continue;
    const GraphForms forms(graph, 3000);
    std::vector<Index> activations;
    for (Index k = 0; k < graph.size(); ++k) {
      if (std::holds_alternative<ActivationNode>(graph.node(k).work)) activations.push_back(k);
    }
    const auto form_of = [&](Index k) {
      Matrix form;
      EXPECT_TRUE(forms.for_each_block(k, {{0, graph.node(k).size}},
                                       [&](const RowRange&, const Matrix& block) { form = block; }));
      return form;
    };
    const Index last = activations.back(), earlier = activations[activations.size() - 2];
    bool is_chain = true;
    for (Index k = earlier + 1; k <= last; ++k)
      is_chain = is_chain && graph.node(k).from == std::vector<Index>{k - 1};
    if (!is_chain) continue;
    const Matrix before = form_of(earlier), behind = form_of(last);
    for (int pair = 0; pair < 3; ++pair) {
      const int draws = 2000;
      Matrix u = random_vector(generator, before.rows()),
             v = u + 0.3 * random_vector(generator, before.rows());
      Vector costs(draws);
      for (double& cost : costs) {
        Matrix z = u, other = v;
        for (Index k = earlier + 1; k <= last; ++k) {
          if (const auto* affine = std::get_if<AffineNode>(&graph.node(k).work)) {
            const Matrix normals = random_matrix(generator, affine->layer->normals(), 1);
            z = affine->layer->draw(z, normals);
            other = affine->layer->draw(other, normals);
          } else {
            const Activation& f = std::get<ActivationNode>(graph.node(k).work).activation;
            z = f.apply(z);
            other = f.apply(other);
          }
        }
        const Vector d = z - other;
        cost = d.dot(behind * d);
      }
      const Vector d = u - v;
      const double bound = d.dot(before * d), mean = costs.mean();
      const double error = std::sqrt((costs.array() - mean).square().mean() / draws);
      EXPECT_LE(mean - 4.0 * error, bound);
      most = std::max(most, mean / bound);
    }
  }
  std::printf("mean cost over form: at most %.2f\n", most);
}

/// 28 x 28, two convolutions with pooling, three dense layers; all weights random, with deviations of 0.02 of
/// their root mean square.
void expect_lenet_bound(const LayerSpec& pool, double most) {
  Generator generator = make_generator(5, Stream::Example, 2912);
  const auto convolution = [&](const LayerShape& shape, Index out, Index padding) {
    Conv2dSpec spec{
        "c", shape.channels, out, shape.image, {{5, 5}, {1, 1}, {padding, padding}, {1, 1}}, 1, {}, {}, {},
        {}};
    const Index taps = 25 * shape.channels;
    const double size = std::sqrt(2.0 / static_cast<double>(taps));
    spec.kernel_mean = size * random_vector(generator, out * taps);
    spec.kernel_variance = Vector::Constant(out * taps, std::pow(0.02 * size, 2));
    spec.bias_variance = Vector::Constant(out, 4e-8);
    return spec;
  };
  const auto dense = [&](Index inputs, Index outputs) {
    const double size = std::sqrt(2.0 / static_cast<double>(inputs));
    return DenseSpec{DenseLayer("f", size * random_matrix(generator, outputs, inputs), Vector::Zero(outputs),
                                MeanFieldWeights{Matrix::Constant(outputs, inputs, std::pow(0.02 * size, 2))},
                                DeterministicBias{})};
  };
  const LayerSpec relu = activation_spec(ActivationFunction::Relu);
  const LayerGraph graph = build_graph({convolution({1, {28, 28}, true}, 6, 2), relu, pool,
                                        convolution({6, {14, 14}, true}, 16, 0), relu, pool, FlattenSpec{},
                                        dense(400, 120), relu, dense(120, 84), relu, dense(84, 10)});
  Vector input = random_vector(generator, 784).cwiseAbs();
  for (double& pixel : input) pixel = pixel > 1.2 ? 0.5 : 0.0;
  const GraphChain chain(graph);
  const GraphChain::Bound bound = chain.certify(input);
  const double variance = bound.gaussian.covariance.variances().sum();
  const double size = std::sqrt(bound.gaussian.mean.squaredNorm() + variance);
  std::printf("LeNet-5, noise 0.02: relative bound %.4f, deviation %.4f\n", bound.w2 / size,
              std::sqrt(variance) / size);
  for (const GraphTerm& term : bound.terms)
    std::printf("  %s: activations %.5f, noise %.5f, rounding %.1e\n", term.title.c_str(),
                std::sqrt(term.activations) / size, std::sqrt(term.noise) / size, term.rounding / size);
  EXPECT_LE(bound.w2, most * size);
}

TEST(GraphChain, BoundsLeNetWithAveragePooling) {
  expect_lenet_bound(AvgPool2dSpec{{{2, 2}, {2, 2}, {0, 0}, {1, 1}}}, 0.08);
}
TEST(GraphChain, BoundsLeNetWithMaxPooling) {
  expect_lenet_bound(MaxPool2dSpec{{{2, 2}, {2, 2}, {0, 0}, {1, 1}}}, 0.6);
}

TEST(GraphChain, ActivationsAndMaximaChangePlaces) {
  Generator generator = make_generator(3, Stream::Example, 3105);
  const Conv2dSpec first = same_convolution(generator, {2, {4, 4}, true}, true);
  const LayerSpec relu = activation_spec(ActivationFunction::Relu),
                  pool = MaxPool2dSpec{{{2, 2}, {2, 2}, {0, 0}, {1, 1}}};
  const Conv2dSpec second = same_convolution(generator, {2, {2, 2}, true}, true, "second");
  const Vector input = random_vector(generator, 32);
  const GraphChain::Bound a = GraphChain(build_graph({first, relu, pool, second})).certify(input),
                          b = GraphChain(build_graph({first, pool, relu, second})).certify(input);
  EXPECT_EQ(a.w2, b.w2);
  EXPECT_EQ(a.gaussian.mean, b.gaussian.mean);
}

/// One neuron, all of whose layers are fixed but for the first one's bias.
LayerSpec one_neuron(double weight, double bias_deviation) {
  const double variance = bias_deviation * bias_deviation;
  return DenseSpec{DenseLayer("one", Matrix::Constant(1, 1, weight), Vector::Zero(1), DeterministicWeights{},
                              IndependentBias{Vector::Constant(1, variance)})};
}

/// Squares of slopes of the layers behind the activation are no doubles, and what arrives there is large: the
/// distance is that of relu(g) to N((2 pi)^{-1/2}, 1/4), 0.3013, times all scales.
TEST(GraphChain, CountsFormsThatUnderflow) {
  const LayerSpec relu = activation_spec(ActivationFunction::Relu);
  const std::vector<std::pair<std::vector<double>, double>> cases = {
      {{1e-55, 1e-55, 1e-55}, 1e-65}, {{1e-81, 1e-81}, 1e-62}, {{1e-163, 1e50}, 1e-13}};
  for (const auto& [weights, scale] : cases) {
    SCOPED_TRACE(scale);
    std::vector<LayerSpec> layers = {one_neuron(0.0, 1e100), relu};
    for (const double weight : weights) layers.push_back(one_neuron(weight, 0.0));
    const LayerGraph graph = build_graph(layers);
    for (const Index most_dense : {3000, 0}) {
      const GraphChain::Bound bound = GraphChain(graph, {.most_dense = most_dense}).certify(Vector::Ones(1));
      EXPECT_GE(bound.w2, 0.3013 * scale);
    }
  }
}

TEST(GraphChain, RefusesInALine) {
  GraphBuilder masked({1, {2, 2}, true});
  masked.mask("dropout", Mask::bernoulli(0.5), 1);
  const LayerGraph with_mask = std::move(masked).finish();
  EXPECT_NE(graph_chain_refusal(with_mask).find("masks"), std::string::npos);
  EXPECT_THROW((void)GraphChain(with_mask), InvalidArgument);
  Generator generator = make_generator(1, Stream::Example, 3104);
  const LayerGraph graph = small_network(0, generator).graph();
  EXPECT_EQ(graph_chain_refusal(graph), "");
  EXPECT_NE(graph_chain_refusal(graph, {.tangent_bytes = 1000.0}).find("MiB"), std::string::npos);
}

}  // namespace graph_chain_test
}  // namespace mixcert::testing
