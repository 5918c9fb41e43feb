// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The canonical form of graphs (O.18) - (O.20): values against loops over the entries, draws against the same
// normals in the graph of operators, what is folded, shared and refused.
#include <gtest/gtest.h>

#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "network/graph/graph_paths.h"
#include "support/naive_draw.h"
#include "support/naive_specs.h"
#include "support/random_graphs.h"
#include "support/random_specs.h"

namespace mixcert {
namespace graph_canonical_test {

using testing::activation_spec;
using testing::exact;
using testing::ExactVector;
using testing::GraphParts;
using testing::RandomGraph;

/// Keeps every layer out of the front.
InputNoise no_noise() { return {{{1.0, {}, DeterministicBias{}}}}; }

void expect_close(const ExactVector& got, const ExactVector& expected) {
  const double size = testing::distance(expected, ExactVector(expected.size(), 0));
  EXPECT_LE(testing::distance(got, expected), 1e-11 * (1.0 + size));
}

/// Numbers one after the other; a normal for each output of a dense layer, N(0, beta_l + sum_j V_lj x_j^2).
class Queue final : public testing::NaiveSource<testing::Exact> {
 public:
  explicit Queue(const BlockRandomness& randomness) {
    for (const Matrix& own : randomness.numbers) {
      for (Index i = 0; i < own.rows(); ++i) numbers_.push_back(own(i, 0));
    }
  }
  Vector normals(Index count) override {
    Vector taken(count);
    for (double& one : taken) one = numbers_.at(at_++);
    return taken;
  }
  ExactVector dense(const DenseLayer& layer, const ExactVector& x) override {
    ExactVector y = testing::naive_dense(layer, x);
    const Vector n = normals(layer.outputs());
    for (Index i = 0; i < n.size(); ++i) {
      testing::Exact variance = layer.bias_variances()(i);
      for (Index j = 0; j < layer.inputs(); ++j) {
        const testing::Exact value = x[static_cast<std::size_t>(j)];
        variance += layer.weight_variances()(i, j) * value * value;
      }
      y[static_cast<std::size_t>(i)] += std::sqrt(variance) * n(i);
    }
    return y;
  }
  const DenseLayer& alternative(const MixtureSpec& mixture) override {
    return mixture.alternatives.front().layer;
  }
  [[nodiscard]] bool is_empty() const { return at_ == numbers_.size(); }

 private:
  std::vector<double> numbers_;
  std::size_t at_ = 0;
};

BlockRandomness one_draw(const LayerGraph& graph, Generator& generator) {
  return {graph, 1, [&](Matrix& out) { out = testing::random_matrix(generator, out.rows(), out.cols()); }};
}

/// A canonical network of independent weights, a normal for every output that is random.
Vector canonical_draw(const Network& network, const Vector& input, Queue& queue) {
  Vector x = network.features(input).values.col(0);
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    x = network.activation(k).apply(x);
    const Vector variances = layer.weight_variances() * x.cwiseAbs2() + layer.bias_variances();
    Vector y = layer.weight_mean() * x + layer.bias_mean();
    for (Index i = 0; i < y.size(); ++i) {
      if (layer.row_variances()(i) > 0.0 || layer.bias_variances()(i) > 0.0)
        y(i) += std::sqrt(variances(i)) * queue.normals(1)(0);
    }
    x = y;
  }
  return x;
}

/// Calls check(graph, generator) for many graphs of every kind; those that are random deviate by 0.3.
template <class Check>
void for_each_graph(double noise, std::initializer_list<GraphParts> kinds, Check check) {
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    for (const GraphParts parts : kinds) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", parts " + std::to_string(static_cast<int>(parts)));
      Generator generator = make_generator(seed, Stream::Example, 3011);
      check(testing::random_graph(seed, seed % 2 == 1, noise, parts), generator);
    }
  }
}

/// With random weights from the middle of the list on.
std::vector<LayerSpec> noisy_behind(std::vector<LayerSpec> layers) {
  for (std::size_t k = layers.size() / 2; k < layers.size(); ++k) {
    const auto* dense = std::get_if<DenseSpec>(&layers[k].variant());
    if (dense == nullptr) continue;
    const DenseLayer& own = dense->layer;
    layers[k] =
        seeing(DenseSpec{{own.name(), own.weight_mean(), own.bias_mean(),
                          MeanFieldWeights{Matrix::Ones(own.outputs(), own.inputs())}, DeterministicBias{}}},
               layers[k].node, layers[k].inputs);
  }
  return layers;
}

constexpr auto kBothKinds = {GraphParts::Plain, GraphParts::Operators};

TEST(Graphs, HaveTheValuesOfTheirEntries) {
  for_each_graph(0.0, kBothKinds, [](const RandomGraph& graph, Generator& generator) {
    const auto& [layers, input] = graph;
    const Vector x = testing::random_vector(generator, input.size());
    const ExactVector expected = testing::naive_layers(layers, input, exact(x));
    // Everything in the chain, everything but the head in front of it.
    expect_close(testing::naive_canonical(build_network(layers, no_noise()), x), expected);
    const Network features = build_network(layers);
    expect_close(testing::naive_canonical(features, x), expected);
    // Behind its first layer, where several values are live.
    const Network network = build_network(noisy_behind(layers));
    expect_close(testing::naive_canonical(network, x), expected);
    EXPECT_LE(network.features(x).errors(0), 1e-9 * (1.0 + network.features(x).values.norm()));
    if (network.graph() == nullptr) return;  // all branches meet in front
    const BlockRandomness zeros(*network.graph(), 1, [](Matrix& out) { out.setZero(); });
    expect_close(exact(run_block(*network.graph(), network.features(x).values.col(0), zeros).col(0)),
                 expected);
  });
}

TEST(Graphs, AreDrawnAsTheirEntries) {
  for_each_graph(0.3, kBothKinds, [](const RandomGraph& graph, Generator& generator) {
    const auto& [layers, input] = graph;
    const Network network = build_network(layers);
    ASSERT_NE(network.graph(), nullptr);
    const Vector x = testing::random_vector(generator, input.size());
    const BlockRandomness randomness = one_draw(*network.graph(), generator);
    Queue queue(randomness);
    const ExactVector expected = testing::naive_draw(layers, input, exact(x), queue);
    EXPECT_TRUE(queue.is_empty());
    expect_close(exact(run_block(*network.graph(), network.features(x).values.col(0), randomness).col(0)),
                 expected);
  });
}

TEST(Graphs, OfDenseLayersAreDrawnFromTheirCanonicalFormToo) {
  for_each_graph(0.3, {GraphParts::Plain}, [](const RandomGraph& graph, Generator& generator) {
    const auto& [layers, input] = graph;
    if (input.is_image) return;
    const Network network = build_network(layers);
    ASSERT_TRUE(network.graph()->has_canonical_form());
    const Vector x = testing::random_vector(generator, input.size());
    const BlockRandomness randomness = one_draw(*network.graph(), generator);
    Queue queue(randomness), again(randomness);
    const ExactVector expected = testing::naive_draw(layers, input, exact(x), queue);
    expect_close(exact(canonical_draw(network, x, again)), expected);
    EXPECT_TRUE(again.is_empty());
  });
}

/// Three values are live behind the deterministic layers: one of them, the input and a part of both.
TEST(CanonicalGraph, FeaturesAreAllThatIsLive) {
  Generator generator = make_generator(2, Stream::Example, 3012);
  const auto fixed = [&](const std::string& name, Index in, Index out) -> LayerSpec {
    return DenseSpec{{name, testing::random_matrix(generator, out, in),
                      testing::random_vector(generator, out), DeterministicWeights{}, DeterministicBias{}}};
  };
  const auto random = [&](const std::string& name, Index in, Index out) -> LayerSpec {
    return DenseSpec{{name, testing::random_matrix(generator, out, in),
                      testing::random_vector(generator, out),
                      MeanFieldWeights{Matrix::Constant(out, in, 0.04)}, DeterministicBias{}}};
  };
  const std::vector<LayerSpec> layers = {fixed("a", 3, 2),
                                         seeing(fixed("b", 3, 2), "", {"input"}),
                                         seeing(ConcatSpec{}, "c", {"a", "b"}),
                                         seeing(random("d", 4, 2), "", {"c"}),
                                         seeing(AddSpec{}, "e", {"d", "a"}),
                                         seeing(random("f", 3, 2), "", {"input"}),
                                         seeing(AddSpec{}, "", {"e", "f"})};
  const Network network = build_network(layers);
  ASSERT_NE(network.front(), nullptr);
  EXPECT_EQ(network.feature_count(), 3 + 2 + 4);
  ASSERT_NE(network.graph(), nullptr);
  const Vector x = testing::random_vector(generator, 3);
  const BlockRandomness randomness = one_draw(*network.graph(), generator);
  Queue queue(randomness), again(randomness);
  const ExactVector expected = testing::naive_draw(layers, {3, {}, false}, exact(x), queue);
  expect_close(exact(run_block(*network.graph(), network.features(x).values.col(0), randomness).col(0)),
               expected);
  expect_close(exact(canonical_draw(network, x, again)), expected);
}

DenseSpec dense(const std::string& name, Index in, Index out) {
  return {{name, Matrix::Constant(out, in, 0.5), Vector::Ones(out),
           MeanFieldWeights{Matrix::Constant(out, in, 0.1)}, IndependentBias{Vector::Constant(out, 0.2)}}};
}

LayerSpec seen(LayerSpec layer, const std::vector<std::string>& inputs, const std::string& node = "") {
  return seeing(std::move(layer), node, inputs);
}

const LayerSpec kRelu = activation_spec(ActivationFunction::Relu);
const LayerSpec kTanh = activation_spec(ActivationFunction::Tanh);

/// Two branches of one layer each with an activation of its own, one after the other at the end.
std::vector<LayerSpec> branches(const LayerSpec& one, const LayerSpec& other) {
  return {dense("a", 2, 3),
          seen(dense("b", 3, 2), {"a"}),
          seen(dense("c", 3, 2), {"a"}),
          seen(one, {"b"}, "f"),
          seen(other, {"c"}, "g"),
          seen(ConcatSpec{}, {"f", "g"}, "both"),
          seen(dense("d", 4, 1), {"both"})};
}

TEST(CanonicalGraph, BranchesShareAStepWhereTheirFunctionIsOne) {
  const Network shared = build_network(branches(kRelu, kRelu));
  EXPECT_EQ(shared.layer_count(), 4);
  EXPECT_TRUE(shared.activation(3).is_uniform());
  const Network apart = build_network(branches(kRelu, kTanh));
  EXPECT_EQ(apart.layer_count(), 5);
  const LayerSpec steep = ActivationSpec{Activation(ActivationFunction::LeakyRelu, 0.2)};
  const LayerSpec flat = ActivationSpec{Activation(ActivationFunction::LeakyRelu, 0.1)};
  EXPECT_EQ(build_network(branches(steep, steep)).layer_count(), 4);
  EXPECT_EQ(build_network(branches(steep, flat)).layer_count(), 5);
}

TEST(CanonicalGraph, PassedCoordinatesHaveNoNoise) {
  const Network network = build_network(branches(kRelu, kRelu));
  const DenseLayer& second = network.layer(2);  // [c; b], b passes
  ASSERT_EQ(second.outputs(), 4);
  EXPECT_EQ(second.row_variances().tail(2), Vector::Zero(2));
  EXPECT_EQ(second.bias_variances().tail(2), Vector::Zero(2));
}

TEST(CanonicalGraph, SumsOfLayersAreAddedRows) {
  // A projection in the skip: one layer with both, then W_f h + (W_s x).
  const Network network =
      build_network({dense("a", 2, 3), seen(kRelu, {"a"}, "h"),
                     ResidualSpec{{dense("f", 3, 3), kRelu, dense("g", 3, 3)}, {dense("s", 3, 3)}}});
  ASSERT_EQ(network.layer_count(), 4);
  EXPECT_EQ(network.layer(3).outputs(), 3);
  EXPECT_EQ(network.layer(3).weight_mean().rightCols(3), Matrix::Identity(3, 3));
}

TEST(CanonicalGraph, MasksOfPartsAreRefusedAndTheGraphStays) {
  const std::vector<LayerSpec> layers = {dense("a", 2, 3), seen(DropoutSpec{0.5}, {"a"}, "m"),
                                         seen(dense("b", 3, 3), {"m"}), seen(AddSpec{}, {"a", "b"})};
  const Network network = build_network(layers);
  ASSERT_NE(network.graph(), nullptr);
  EXPECT_FALSE(network.graph()->has_canonical_form());
  try {
    (void)network.layer_count();
    ADD_FAILURE() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("dropout 'm': drops a part of what later layers see"),
              std::string::npos)
        << error.what();
  }
  // All that is there may be dropped, by whomever it is seen.
  const std::vector<LayerSpec> whole = {dense("a", 2, 3), seen(DropoutSpec{0.5}, {"a"}, "m"),
                                        seen(dense("b", 3, 3), {"m"}), seen(AddSpec{}, {"m", "b"})};
  EXPECT_TRUE(build_network(whole).graph()->has_canonical_form());
  EXPECT_EQ(build_network(whole).mask(1).rate(), 0.5);
}

TEST(CanonicalGraph, LawsWithoutRoomAreRefusedBesideOtherValuesOnly) {
  const DenseSpec kronecker{{"k", Matrix::Ones(3, 3), Vector::Zero(3),
                             KroneckerWeights{Matrix::Identity(3, 3), Matrix::Identity(3, 3)},
                             DeterministicBias{}}};
  EXPECT_THROW((void)build_network({dense("a", 2, 3), seen(kronecker, {"a"}), seen(AddSpec{}, {"a", "k"})}),
               InvalidArgument);
  // Coordinates in another order are given a layer of their own.
  const Network network = build_network({dense("a", 2, 1), seen(dense("b", 2, 2), {"input"}),
                                         seen(ConcatSpec{}, {"a", "b"}, "c"), seen(kronecker, {"c"})});
  EXPECT_EQ(network.layer_count(), 4);
}

TEST(CanonicalGraph, WeightsOnAValueSeenTwiceStayIndependent) {
  const Network network = build_network(
      {dense("a", 2, 2), seen(ConcatSpec{}, {"a", "a"}, "twice"), seen(dense("b", 4, 1), {"twice"})});
  // Var(w_1 x + w_3 x) = (v_1 + v_3) x^2.
  const DenseLayer& last = network.layer(network.layer_count() - 1);
  EXPECT_EQ(last.inputs(), 4);
  EXPECT_NEAR(last.row_variances()(0), 0.4, 1e-15);
}

}  // namespace graph_canonical_test
}  // namespace mixcert
