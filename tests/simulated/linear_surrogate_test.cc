// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian of a graph: exact where the network is linear, its output's law by coupled draws elsewhere,
// docs/theory/graphs.md (O.4), (O.5).
#include "simulated/graph/linear_surrogate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "support/random_specs.h"

namespace mixcert::testing {
namespace linear_surrogate_test {

NormalSource source_of(Generator& generator) {
  return [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); };
}

struct Case {
  LayerGraph graph;
  Vector input;
  Generator generator;

  [[nodiscard]] LinearSurrogate surrogate(Index draws) {
    GraphPilot pilot(graph, input);
    pilot.add(BlockRandomness(graph, draws, source_of(generator)));
    return {graph, input, pilot.nodes()};
  }
};

DenseSpec head(Generator& generator, Index inputs, double noise) {
  const double size = std::sqrt(2.0 / static_cast<double>(inputs));
  return {DenseLayer("head", size * random_matrix(generator, 2, inputs), Vector::Zero(2),
                     MeanFieldWeights{Matrix::Constant(2, inputs, noise * noise * size * size)},
                     DeterministicBias{})};
}

Conv2dSpec convolution(Generator& generator, const LayerShape& shape, Index out, double noise,
                       const std::string& name) {
  Conv2dSpec spec{name, shape.channels, out, shape.image, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, 1, {}, {}, {},
                  {}};
  const Index entries = out * shape.channels * 9;
  const double size = std::sqrt(2.0 / static_cast<double>(9 * shape.channels));
  spec.kernel_mean = size * random_vector(generator, entries);
  spec.kernel_variance = Vector::Constant(entries, noise * noise * size * size);
  spec.bias_variance = Vector::Constant(out, 0.01 * noise * noise);
  return spec;
}

Case small_network(std::uint64_t seed, ActivationFunction function, double noise, double rate) {
  Generator generator = make_generator(seed, Stream::Example, 2900);
  const LayerShape image{1, {6, 6}, true}, inner{4, {6, 6}, true};
  std::vector<LayerSpec> layers = {convolution(generator, image, 4, noise, "c0"), activation_spec(function)};
  if (rate > 0.0) layers.emplace_back(DropoutSpec{rate});
  layers.emplace_back(
      ResidualSpec{{convolution(generator, inner, 4, noise, "c1"), activation_spec(function)}});
  if (function != ActivationFunction::Identity)
    layers.emplace_back(MaxPool2dSpec{{{2, 2}, {2, 2}, {0, 0}, {1, 1}}});
  layers.emplace_back(FlattenSpec{});
  layers.emplace_back(head(generator, layer_shapes(layers).back().size(), noise));
  const Vector input = random_vector(generator, 36);
  return {build_graph(layers), input, generator};
}

struct Coupled {
  Matrix network, surrogate;

  /// Root of the mean square of what separates them, but for a constant.
  [[nodiscard]] double cost() const {
    const Matrix off = network - surrogate;
    return std::sqrt((off.colwise() - off.rowwise().mean()).squaredNorm() / static_cast<double>(off.cols()));
  }
};

Coupled coupled_draws(Case& at, const LinearSurrogate& surrogate, Index draws) {
  const BlockRandomness randomness(at.graph, draws, source_of(at.generator));
  return {run_block(at.graph, at.input, randomness),
          surrogate.centred(at.graph, randomness, MaskForm::Normal).colwise() + surrogate.mean()};
}

Matrix sample_covariance(const Matrix& draws) {
  const Matrix centred = draws.colwise() - draws.rowwise().mean();
  return centred * centred.transpose() / static_cast<double>(draws.cols() - 1);
}

TEST(LinearSurrogate, HasTheCovarianceThatItSays) {
  for (const double rate : {0.0, 0.2}) {
    Case at = small_network(3, ActivationFunction::Relu, 0.2, rate);
    const LinearSurrogate surrogate = at.surrogate(400);
    const Index draws = 20000;
    const Matrix covariance = surrogate.covariance();
    const Matrix sampled = sample_covariance(coupled_draws(at, surrogate, draws).surrogate);
    for (Index i = 0; i < 2; ++i) {
      // Four standard errors of a sampled variance.
      const double error = 4.0 * covariance(i, i) * std::sqrt(2.5 / static_cast<double>(draws));
      EXPECT_NEAR(sampled(i, i), covariance(i, i), error);
    }
    EXPECT_NEAR(sampled(0, 1), covariance(0, 1), 0.06 * std::sqrt(covariance(0, 0) * covariance(1, 1)));
  }
}

TEST(LinearSurrogate, IsTheLinearPartOfALinearNetwork) {
  // Without nonlinear layers what is left is of second order in the noise.
  double before = INFINITY;
  for (const double noise : {0.2, 0.05, 0.0125}) {
    Case at = small_network(5, ActivationFunction::Identity, noise, 0.0);
    const LinearSurrogate surrogate = at.surrogate(400);
    const Coupled drawn = coupled_draws(at, surrogate, 4000);
    const double cost = drawn.cost();
    const double deviation = std::sqrt(surrogate.covariance().trace());
    EXPECT_LE(cost / deviation, 6.0 * noise);
    EXPECT_LT(cost, 0.2 * before);
    before = cost;
  }
}

TEST(LinearSurrogate, IsCloseToTheNetworkWhereNoiseIsSmall) {
  for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
    for (const double noise : {0.02, 0.1}) {
      Case at = small_network(7, function, noise, 0.0);
      const LinearSurrogate surrogate = at.surrogate(200);
      const Coupled drawn = coupled_draws(at, surrogate, 4000);
      const double cost = drawn.cost();
      const double deviation = std::sqrt(surrogate.covariance().trace());
      const double ratio = std::sqrt(sample_covariance(drawn.network).trace()) / deviation;
      std::printf("%s, noise %.2f: coupled cost %.4f deviations, sampled over computed deviation %.3f\n",
                  std::string(to_string(function)).c_str(), noise, cost / deviation, ratio);
      EXPECT_LE(cost, 4.0 * noise * deviation);
      EXPECT_NEAR(ratio, 1.0, 0.1);
    }
  }
}

}  // namespace linear_surrogate_test
}  // namespace mixcert::testing
