// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The dual lower bound against W2 on the line, which sorted samples give, and where it does not apply.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/normal.h"
#include "mixcert/certify/certify.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/mean_bound.h"

namespace mixcert {
namespace dual_bound_test {

/// Neuron j goes to output j mod `outputs` alone, so outputs are independent; then they are turned.
Network skewed_network(Index neurons, Index outputs, double noise, const Matrix& turn, ActivationFunction f) {
  const Matrix first = Matrix::Constant(neurons, 1, 0.3);
  Matrix second = Matrix::Zero(outputs, neurons);
  for (Index j = 0; j < neurons; ++j) second(j % outputs, j) = 1.0 + 0.1 * static_cast<double>(j);
  const Vector spread = Vector::Constant(neurons, 1.0);
  std::vector<DenseLayer> layers;
  layers.emplace_back("0", first, Vector::Zero(neurons), DeterministicWeights{}, IndependentBias{spread});
  layers.emplace_back("1", turn * second, Vector::Zero(outputs),
                      MeanFieldWeights{Matrix::Constant(outputs, neurons, noise)},
                      IndependentBias{Vector::Constant(outputs, 0.3)});
  return {std::move(layers),
          {ActivationMap(Activation(ActivationFunction::Identity)), ActivationMap(Activation(f))}};
}

Matrix samples_of(const Network& network, Index count) {
  SimulationOptions options;
  options.samples = count;
  options.seed = 5;
  return simulate(network, Vector::Ones(1), 0, options);
}

Result certified(const Network& network) {
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  return certify(network, Matrix::Ones(1, 1), options).front();
}

/// W2 between samples of one output and the Gaussian, by quantiles.
double sorted_distance(Vector samples, double mean, double deviation) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  double sum = 0.0;
  for (Index i = 0; i < samples.size(); ++i) {
    const double level = (static_cast<double>(i) + 0.5) / n;
    sum += std::pow(samples(i) - mean - deviation * normal_quantile(level), 2);
  }
  return std::sqrt(sum / n);
}

double true_square(const Network& network, Index output, const Result& result) {
  const Matrix samples = samples_of(network, 400000);
  const Gaussian& q = result.mixture.component(0);
  return std::pow(
      sorted_distance(samples.row(output), q.mean(output), std::sqrt(q.covariance.variances()(output))), 2);
}

class DualBound : public ::testing::TestWithParam<std::tuple<ActivationFunction, Index, double>> {};

TEST_P(DualBound, LiesCloselyBelowTheDistanceOnTheLine) {
  const auto [function, neurons, noise] = GetParam();
  const Network network = skewed_network(neurons, 1, noise, Matrix::Identity(1, 1), function);
  const Result result = certified(network);
  const auto bound = dual_lower_bound(network, Vector::Ones(1), result.mixture, samples_of(network, 20000));
  ASSERT_TRUE(bound.has_value());
  const double truth = std::sqrt(true_square(network, 0, result));
  EXPECT_LT(bound->lower, 1.01 * truth);
  EXPECT_GT(bound->lower, 0.8 * truth) << truth;
}

INSTANTIATE_TEST_SUITE_P(Nets, DualBound,
                         ::testing::Values(std::tuple{ActivationFunction::Relu, Index{6}, 0.2},
                                           std::tuple{ActivationFunction::Relu, Index{30}, 0.0},
                                           std::tuple{ActivationFunction::Gelu, Index{12}, 0.1}));

TEST(DualBound, TurningTheOutputsChangesNothing) {
  const double angle = 0.7;
  Matrix turn(2, 2);
  turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  const Network straight = skewed_network(12, 2, 0.0, Matrix::Identity(2, 2), ActivationFunction::Relu);
  const Network turned = skewed_network(12, 2, 0.0, turn, ActivationFunction::Relu);
  const Result result = certified(straight);
  const double truth = std::sqrt(true_square(straight, 0, result) + true_square(straight, 1, result));
  double lower[2];
  for (const int i : {0, 1}) {
    const Network& network = i == 0 ? straight : turned;
    const auto bound =
        dual_lower_bound(network, Vector::Ones(1), certified(network).mixture, samples_of(network, 20000));
    ASSERT_TRUE(bound.has_value());
    lower[i] = bound->lower;
    EXPECT_LT(lower[i], 1.01 * truth);
    EXPECT_GT(lower[i], 0.8 * truth);
  }
  EXPECT_NEAR(lower[0], lower[1], 0.05 * truth);
}

/// Nothing says that q has the moments of the network.
TEST(DualBound, HoldsForGaussiansWithOtherMoments) {
  const Network network = skewed_network(6, 1, 0.2, Matrix::Identity(1, 1), ActivationFunction::Relu);
  const Gaussian q = certified(network).mixture.component(0);
  const double variance = q.covariance.variances()(0);
  const Matrix samples = samples_of(network, 40000);
  for (const double shift : {-2.0, -0.3, 0.3, 2.0}) {
    for (const double factor : {0.3, 1.0, 2.0}) {
      const double mean = q.mean(0) + shift * std::sqrt(variance);
      const GaussianMixture other(
          Gaussian{Vector::Constant(1, mean), Covariance::diagonal(Vector::Constant(1, factor * variance))});
      const auto bound = dual_lower_bound(network, Vector::Ones(1), other, samples);
      ASSERT_TRUE(bound.has_value());
      EXPECT_LE(bound->lower, 1.01 * sorted_distance(samples.row(0), mean, std::sqrt(factor * variance)));
      EXPECT_TRUE(std::isfinite(bound->linearised));
    }
  }
}

TEST(DualBound, LinearisedIsTheSkewnessOverRootEighteen) {
  const Network network = skewed_network(8, 1, 0.3, Matrix::Identity(1, 1), ActivationFunction::Relu);
  const Result result = certified(network);
  const Matrix samples = samples_of(network, 400000);
  const auto bound = dual_lower_bound(network, Vector::Ones(1), result.mixture, samples);
  const Vector centred = samples.row(0).array() - samples.mean();
  const double variance = centred.squaredNorm() / static_cast<double>(centred.size());
  const double skewness = centred.array().cube().mean() / std::pow(variance, 1.5);
  EXPECT_NEAR(bound->linearised, skewness * std::sqrt(variance / 18.0), 0.02 * bound->linearised);
}

TEST(DualBound, AppliesToOneHiddenLayerAndOneGaussian) {
  const Network network = skewed_network(6, 1, 0.1, Matrix::Identity(1, 1), ActivationFunction::Relu);
  const Gaussian q = certified(network).mixture.component(0);
  const GaussianMixture two(Vector::Constant(2, 0.5), {q, q});
  EXPECT_FALSE(dual_lower_bound(network, Vector::Ones(1), two, samples_of(network, 100)).has_value());
  std::vector<DenseLayer> layers = {network.layer(0), network.layer(1), network.layer(0)};
  const ActivationMap relu{Activation(ActivationFunction::Relu)};
  const Network deep(std::move(layers), {network.activation(0), relu, relu});
  const GaussianMixture mixture = certified(deep).mixture;
  EXPECT_FALSE(dual_lower_bound(deep, Vector::Ones(1), mixture, samples_of(deep, 100)).has_value());
}

}  // namespace dual_bound_test
}  // namespace mixcert
