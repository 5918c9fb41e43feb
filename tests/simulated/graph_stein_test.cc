// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Stein's estimate by replicas: slopes against differences, kernels against the covariance that they have in
// the mean, the estimate against distances that sorting computes, docs/theory/graphs.md (O.9).
#include "simulated/graph/graph_stein.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/normal.h"
#include "simulated/graph_cases.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace graph_stein_test {

NormalSource source_of(Generator& generator) {
  return [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); };
}

/// Outputs by normals, those of all nodes beside each other.
Matrix own_slopes(const GraphCase& at, const BlockRandomness& draw) {
  const std::vector<Matrix> factors = slopes_at(at.graph, at.input, draw);
  Index rows = 0;
  for (const Matrix& factor : factors)
    if (factor.size() > 0) rows += factor.rows();
  Matrix all(rows, at.graph.outputs());
  Index row = 0;
  for (const Matrix& factor : factors) {
    if (factor.size() == 0) continue;
    all.middleRows(row, factor.rows()) = factor;
    row += factor.rows();
  }
  return all.transpose();
}

TEST(SlopesAt, AgreeWithDifferences) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = small_graph_case(seed);
    Generator generator = make_generator(seed, Stream::Example, 2930);
    const BlockRandomness draw(at.graph, 1, source_of(generator));
    const Matrix naive = naive_slopes(at, draw), own = own_slopes(at, draw);
    ASSERT_EQ(own.cols(), naive.cols());
    EXPECT_LE((own - naive).norm(), 2e-4 * naive.norm() + 1e-4);
  }
}

TEST(SlopesAt, CarryGaussianMasks) {
  Generator generator = make_generator(3, Stream::Example, 2931);
  const std::vector<LayerSpec> layers = {convolution(generator, {1, {4, 4}, true}, 2, 3, 1, 0.3, "c0"),
                                         activation_spec(ActivationFunction::Tanh), GaussianDropoutSpec{0.3},
                                         FlattenSpec{}, dense(generator, 32, 2, 0.3, "head")};
  const GraphCase at{build_graph(layers), random_vector(generator, 16)};
  const BlockRandomness draw(at.graph, 1, source_of(generator));
  const Matrix naive = naive_slopes(at, draw), own = own_slopes(at, draw);
  ASSERT_EQ(own.cols(), naive.cols());
  EXPECT_LE((own - naive).norm(), 1e-4 * naive.norm());
}

TEST(SteinKernel, HasTheCovarianceAsItsMean) {
  const GraphCase at = small_graph_case(6);
  Generator generator = make_generator(8, Stream::Example, 2932);
  const Index draws = 4000;
  const Matrix y = run_block(at.graph, at.input, BlockRandomness(at.graph, 20 * draws, source_of(generator)));
  const Matrix centred = y.colwise() - y.rowwise().mean();
  const Matrix covariance = centred * centred.transpose() / static_cast<double>(y.cols());
  Matrix mean = Matrix::Zero(2, 2), squares = Matrix::Zero(2, 2);
  std::uniform_real_distribution<> uniform;
  for (Index i = 0; i < draws; ++i) {
    const BlockRandomness draw(at.graph, 1, source_of(generator));
    BlockRandomness replica(at.graph, 1, source_of(generator));
    const double t = uniform(generator);
    for (std::size_t k = 0; k < draw.numbers.size(); ++k)
      replica.numbers[k] = t * draw.numbers[k] + std::sqrt(1.0 - t * t) * replica.numbers[k];
    const Matrix kernel =
        stein_kernel(slopes_at(at.graph, at.input, replica), slopes_at(at.graph, at.input, draw));
    mean += kernel / static_cast<double>(draws);
    squares += kernel.cwiseAbs2() / static_cast<double>(draws);
  }
  const Matrix error = ((squares - mean.cwiseAbs2()) / static_cast<double>(draws)).cwiseSqrt();
  for (Index i = 0; i < 4; ++i)
    EXPECT_NEAR(mean(i), covariance(i), 4.0 * error(i) + 0.02 * covariance.norm());
}

/// The first output alone, so that sorting gives the distance.
GraphCase one_output(std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, 2933);
  const double noise = seed % 2 == 0 ? 0.1 : 0.4;
  const std::vector<LayerSpec> layers = {
      convolution(generator, {1, {5, 5}, true}, 3, 3, 1, noise, "c0"),
      activation_spec(seed % 3 == 0 ? ActivationFunction::Relu : ActivationFunction::Tanh),
      pool(seed % 4 == 0, 2), FlattenSpec{}, dense(generator, 12, 1, noise, "head")};
  return {build_graph(layers), random_vector(generator, 25)};
}

double sorted_distance(const GraphCase& at, const Gaussian& gaussian, Index draws, Generator& generator) {
  Vector y = run_block(at.graph, at.input, BlockRandomness(at.graph, draws, source_of(generator))).row(0);
  std::sort(y.begin(), y.end());
  const double deviation = std::sqrt(gaussian.covariance.trace());
  double sum = 0.0;
  for (Index i = 0; i < draws; ++i) {
    const double level = (static_cast<double>(i) + 0.5) / static_cast<double>(draws);
    sum += std::pow(y(i) - gaussian.mean(0) - deviation * normal_quantile(level), 2);
  }
  return std::sqrt(sum / static_cast<double>(draws));
}

TEST(GraphStein, IsNoSmallerThanSortedDistances) {
  double least = INFINITY;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = one_output(seed);
    const SimulationSettings settings{.draws = 1024, .seed = seed, .threads = 2};
    const GraphCoupling coupling(at.graph, {at.input}, settings);
    const auto estimate = graph_stein_estimate(at.graph, coupling, settings);
    ASSERT_TRUE(estimate);
    Generator generator = make_generator(seed, Stream::Example, 2934);
    const Index draws = 100000;
    const double sorted = sorted_distance(at, coupling.mixture().component(0), draws, generator);
    // What so many sorted draws of a normal law are away from it, about.
    const double floor =
        3.0 * std::sqrt(coupling.mixture().covariance().trace() / static_cast<double>(draws));
    least = std::min(least, (estimate->w2 + 3.0 * estimate->error + floor) / sorted);
    EXPECT_GE(estimate->w2 + 3.0 * estimate->error + floor, sorted);
  }
  std::printf("Stein's estimates, three standard errors higher, over sorted distances: at least %.2f\n",
              least);
}

TEST(GraphStein, SaysNothingBehindDropout) {
  Generator generator = make_generator(4, Stream::Example, 2935);
  const std::vector<LayerSpec> layers = {convolution(generator, {1, {4, 4}, true}, 2, 3, 1, 0.3, "c0"),
                                         activation_spec(ActivationFunction::Relu), DropoutSpec{0.3},
                                         FlattenSpec{}, dense(generator, 32, 2, 0.3, "head")};
  const GraphCase at{build_graph(layers), random_vector(generator, 16)};
  const SimulationSettings settings{.draws = 1024, .seed = 1, .threads = 2};
  const GraphCoupling coupling(at.graph, {at.input}, settings);
  EXPECT_FALSE(graph_stein_estimate(at.graph, coupling, settings));
}

TEST(GraphStein, IsBelowTheCouplingOfARealNetwork) {
  const GraphCase at = lenet(0.1, false);
  const SimulationSettings settings{.draws = 1024, .seed = 1, .threads = 2};
  const GraphCoupling coupling(at.graph, {at.input}, settings);
  const auto estimate = graph_stein_estimate(at.graph, coupling, settings);
  ASSERT_TRUE(estimate);
  const double cost = std::sqrt(coupling.costs(DrawUse::Statistic, 1024).mean());
  const double size =
      std::sqrt(coupling.mixture().mean().squaredNorm() + coupling.mixture().covariance().trace());
  std::printf("LeNet-5, noise 0.1: Stein %.4f +- %.4f, coupling %.4f of the output's size\n",
              estimate->w2 / size, estimate->error / size, cost / size);
  EXPECT_LE(estimate->w2, 2.0 * cost);
}

}  // namespace graph_stein_test
}  // namespace mixcert::testing
