// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures fitted to the law of one output.
#include "theorems/fitted_law.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/certify/certify.h"

namespace mixcert::testing {
namespace {

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

/// (Y.28) is of the Gaussian: its first term is what the last one leaves, and a mixture in place of the
/// Gaussian may not lower the last one by itself. The second hidden layer has one neuron: (Y.40) holds too.
TEST(FittedLaw, IsNotTakenBehindTermsThatAreOfTheGaussian) {
  using F = ActivationFunction;
  Options options;
  options.method = Method::Moment;
  const std::vector<Network> networks = {
      chain_of_neurons(F::Relu, {{{-2.4, 1.54, 0.7, 0.06}, {-1.7, 0.04, 1.4, 0.3}, {1.3, 0.12, 0.8, 0.03}}}),
      chain_of_neurons(F::Tanh, {{{-2.4, 0.1, -0.6, 0.55}, {-0.1, 1.59, 0.8, 0.2}, {-2.3, 0.01, 0.3, 0.12}}})};
  for (const Network& network : networks) {
    options.components = 5;
    const Result fitted = certify(network, Vector::Ones(1), options).front();
    options.components = 1;
    const Result gaussian = certify(network, Vector::Ones(1), options).front();
    ASSERT_EQ(gaussian.layers.front().theorem, "Y.28");
    EXPECT_EQ(fitted.mixture.size(), 1);
    EXPECT_EQ(fitted.w2.value, gaussian.w2.value);
  }
}

}  // namespace
}  // namespace mixcert::testing
