// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures fitted to the law of one output.
#include "theorems/fitted_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/core/rng.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace fitted_law_test {

TEST(FittedLaw, IsNotBelowTheTruthAndClose) { check_fitted_laws(24); }

/// Mean and variance of the weight, mean and variance of the bias.
using OneNeuron = std::array<double, 4>;

Network chain_of_neurons(ActivationFunction function, const std::array<OneNeuron, 3>& neurons) {
  std::vector<DenseLayer> layers;
  layers.reserve(neurons.size());
  for (const auto& [weight, weight_variance, bias, bias_variance] : neurons) {
    layers.emplace_back("layer" + std::to_string(layers.size()), Matrix::Constant(1, 1, weight),
                        Vector::Constant(1, bias), MeanFieldWeights{Matrix::Constant(1, 1, weight_variance)},
                        IndependentBias{Vector::Constant(1, bias_variance)});
  }
  return Network(std::move(layers), {ActivationMap(), Activation(function), Activation(function)});
}

struct Chain {
  ActivationFunction function;
  std::array<OneNeuron, 3> neurons;

  /// At the input one, from the definition, in increasing order.
  [[nodiscard]] std::vector<double> draws(Index count) const {
    Generator generator = make_generator(11, Stream::Example, 79);
    const Matrix normals = random_matrix(generator, 6, count);
    const Activation activation(function);
    std::vector<double> outputs;
    for (Index i = 0; i < count; ++i) {
      double value = 1.0;
      for (Index k = 0; k < 3; ++k) {
        const auto& [weight, weight_variance, bias, bias_variance] = neurons[static_cast<std::size_t>(k)];
        if (k > 0) value = activation(value);
        value = (weight + std::sqrt(weight_variance) * normals(2 * k, i)) * value + bias +
                std::sqrt(bias_variance) * normals(2 * k + 1, i);
      }
      outputs.push_back(value);
    }
    std::sort(outputs.begin(), outputs.end());
    return outputs;
  }
};

double below(const GaussianMixture& mixture, double x) {
  double sum = 0.0;
  for (Index k = 0; k < mixture.size(); ++k) {
    const Gaussian& one = mixture.component(k);
    const double z = (x - one.mean(0)) / std::sqrt(one.covariance.variances()(0));
    sum += mixture.weights()(k) * 0.5 * std::erfc(-z / std::sqrt(2.0));
  }
  return sum;
}

/// By quantiles at every tenth of the draws.
double sampled_distance(const std::vector<double>& draws, const GaussianMixture& mixture) {
  double sum = 0.0;
  const std::size_t count = draws.size() / 10;
  for (std::size_t i = 0; i < count; ++i) {
    const double level = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    double low = -1e3, high = 1e3;
    for (int step = 0; step < 50; ++step) {
      const double middle = 0.5 * (low + high);
      (below(mixture, middle) < level ? low : high) = middle;
    }
    sum += std::pow(draws[10 * i + 5] - low, 2);
  }
  return std::sqrt(sum / static_cast<double>(count));
}

/// (Y.28) is of the Gaussian: its first term is what the last one leaves, and a mixture in place of the
/// Gaussian may not lower the last one by itself. With it the first term is what it was before. The second
/// hidden layer has one neuron: (Y.40) holds too.
TEST(FittedLaw, TakesTheFirstTermByItselfInPlaceOfOneThatIsShared) {
  using F = ActivationFunction;
  Options options;
  options.method = Method::Moment;
  const std::vector<Chain> chains = {
      {F::Relu, {{{-2.4, 1.54, 0.7, 0.06}, {-1.7, 0.04, 1.4, 0.3}, {1.3, 0.12, 0.8, 0.03}}}},
      {F::Tanh, {{{-2.4, 0.1, -0.6, 0.55}, {-0.1, 1.59, 0.8, 0.2}, {-2.3, 0.01, 0.3, 0.12}}}}};
  for (const Chain& chain : chains) {
    const Network network = chain_of_neurons(chain.function, chain.neurons);
    options.components = 5;
    const Result fitted = certify(network, Vector::Ones(1), options).front();
    options.components = 1;
    const Result gaussian = certify(network, Vector::Ones(1), options).front();
    ASSERT_EQ(gaussian.layers.front().theorem, "Y.28");
    EXPECT_NE(fitted.layers.front().theorem, "Y.28");
    EXPECT_EQ(fitted.layers.back().theorem, "Y.40");
    EXPECT_LT(fitted.w2.value, gaussian.w2.value);
    const std::vector<double> draws = chain.draws(40000);
    EXPECT_GE(fitted.w2.value, sampled_distance(draws, fitted.mixture));
    EXPECT_GE(gaussian.w2.value, sampled_distance(draws, gaussian.mixture));
  }
}

}  // namespace fitted_law_test
}  // namespace mixcert::testing
