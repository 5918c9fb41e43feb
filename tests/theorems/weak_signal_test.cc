// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (Y.30) behind three and four hidden layers: used, and not below sorted samples of the output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/normal.h"
#include "mixcert/certify/certify.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace weak_signal_test {

using F = ActivationFunction;

double decades(Generator& generator, double low, double high) {
  return std::pow(10.0, low + (high - low) * uniform(generator));
}

/// Weak signal at the last hidden layer: its own noise is large, by weights or by biases.
Network random_deep(std::uint64_t seed, std::size_t hidden) {
  Generator generator = make_generator(seed, Stream::Example, 93);
  const F functions[] = {F::Relu, F::Tanh, F::Gelu, F::Sigmoid, F::LeakyRelu, F::Softplus};
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations{ActivationMap()};
  Index in = 2;
  for (std::size_t k = 0; k <= hidden; ++k) {
    const Index out = k == hidden ? 1 : 3 + static_cast<Index>(generator() % 6);
    const double scale = (k == 0 ? 1.0 : 0.7) / std::sqrt(static_cast<double>(in));
    const bool noisy = k + 1 == hidden;
    const double variance = noisy ? decades(generator, -2.0, -0.5) : decades(generator, -4.0, -2.5);
    layers.emplace_back("layer" + std::to_string(k), scale * random_matrix(generator, out, in),
                        random_matrix(generator, out, 1),
                        MeanFieldWeights{variance * random_matrix(generator, out, in).cwiseAbs2()},
                        IndependentBias{Vector::Constant(out, noisy ? decades(generator, -2.0, 0.0) : 1e-3)});
    if (k > 0) activations.emplace_back(Activation(functions[seed % 6], 0.1));
    in = out;
  }
  return Network(std::move(layers), std::move(activations));
}

/// W2 between sorted samples and a Gaussian.
double sampled_distance(const Network& network, const Result& result, Index count, std::uint64_t seed) {
  const Matrix samples = simulate(network, Vector::Ones(2), 0, {count, seed, 1});
  std::vector<double> sorted(samples.data(), samples.data() + count);
  std::sort(sorted.begin(), sorted.end());
  const double mean = result.mixture.mean()(0), deviation = result.mixture.standard_deviation()(0);
  double sum = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    sum += std::pow(sorted[i] - mean - deviation * normal_quantile(p), 2);
  }
  return std::sqrt(sum / static_cast<double>(count));
}

class WeakSignal : public ::testing::TestWithParam<std::size_t> {};

TEST_P(WeakSignal, IsUsedBehindSeveralHiddenLayersAndNotBelowSamples) {
  const Index samples = 20000;
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Network network = random_deep(seed, GetParam());
    Options options;
    options.pieces = 1;
    const Result result = certify(network, Matrix::Ones(2, 1), options).front();
    if (result.layers.back().theorem != "Y.30") continue;
    ++used;
    ASSERT_EQ(result.layers.size(), GetParam());
    // Sorted samples are about 1.5 deviations over the root of their number away from any smooth law.
    const double floor =
        4.0 * result.mixture.standard_deviation()(0) / std::sqrt(static_cast<double>(samples));
    EXPECT_LE(sampled_distance(network, result, samples, seed), result.w2.value + floor) << "seed " << seed;
    options.method = Method::Moment;
    options.theorems = TheoremSet::Coupling;
    EXPECT_LT(result.w2.value, certify(network, Matrix::Ones(2, 1), options).front().w2.value);
  }
  EXPECT_GE(used, 15);
}

/// In front of the last hidden layer there are linear layers with next to no noise: the whole certificate is
/// its term, which is compared with the truth.
TEST_P(WeakSignal, IsNotBelowSamplesWhereItIsTheWholeBound) {
  const Index samples = 100000;
  double closest = 0.0;
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 94);
    const std::size_t hidden = GetParam();
    const Index n = 3;
    std::vector<DenseLayer> layers;
    std::vector<ActivationMap> activations{ActivationMap()};
    for (std::size_t k = 0; k <= hidden; ++k) {
      const Index out = k == hidden ? 1 : n, in = k == 0 ? 2 : n;
      // The first layer's weights are the signal; the last two are (Y.30)'s.
      const double variance = k == 0 ? 0.002 : k + 1 == hidden ? 0.3 : k == hidden ? 0.01 : 1e-12;
      // One after the other: compilers differ in the order of arguments.
      const Vector bias = random_matrix(generator, out, 1);
      const Matrix mean = 0.6 * random_matrix(generator, out, in);
      layers.emplace_back("layer" + std::to_string(k), mean, bias,
                          MeanFieldWeights{Matrix::Constant(out, in, variance)},
                          IndependentBias{Vector::Constant(out, k >= hidden - 1 ? 0.05 : 1e-12)});
      if (k > 0) activations.emplace_back(Activation(k == hidden ? F::Relu : F::Identity));
    }
    const Network network(std::move(layers), std::move(activations));
    Options options;
    options.pieces = 1;
    const Result result = certify(network, Matrix::Ones(2, 1), options).front();
    if (result.layers.back().theorem != "Y.30") continue;
    ++used;
    const double floor =
        4.0 * result.mixture.standard_deviation()(0) / std::sqrt(static_cast<double>(samples));
    const double truth = sampled_distance(network, result, samples, seed);
    EXPECT_LE(truth, result.w2.value + floor) << "seed " << seed;
    closest = std::max(closest, truth / result.w2.value);
  }
  EXPECT_GE(used, 4);
  // It has something to say.
  EXPECT_GE(closest, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Depths, WeakSignal, ::testing::Values(3U, 4U));

}  // namespace weak_signal_test
}  // namespace mixcert::testing
