// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks with numbers whose squares or fourth powers are no doubles. A bound is no smaller than the
// distance that samples in long double show, or the network is refused by an exception of the library.
#include "certify/extreme_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "certify/scale_reference.h"
#include "certify/small_networks.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace extreme_scale_test {

using F = ActivationFunction;

DenseLayer fixed_weight(double weight) { return fixed_layer(Matrix::Constant(1, 1, weight)); }

DenseLayer random_weight(double mean, double deviation) {
  return scalar_layer(mean, deviation * deviation, 0.0, 0.0);
}

Matrix point(double x) { return Matrix::Constant(1, 1, x); }

void expect_above_samples(const Network& network, const Matrix& inputs, const Options& options) {
  const std::optional<Result> result = answered(network, inputs, options);
  if (!result) return;
  const WideSamples drawn = wide_samples(network, inputs, 20000, 3);
  EXPECT_LE(sampled_lower_bound(drawn, result->mixture, 4), result->w2.value);
}

/// y = V (W x) with W ~ N(0, 1), V ~ N(0, deviation^2) / deviation: a product of normals, 0.3095 from its
/// Gaussian.
Network product_of_normals(double deviation) {
  return network_of({random_weight(0.0, 1.0), random_weight(0.0, deviation), fixed_weight(1.0 / deviation)},
                    F::Identity);
}

TEST(ExtremeScale, ProductOfNormals) {
  for (const double deviation : {1e-70, 1e-80, 1e-81, 1e-84, 1e-100, 1e-140, 1e-153, 1e-160}) {
    for (const Method method : methods()) {
      SCOPED_TRACE(std::string(to_string(method)) + ", deviation " + std::to_string(std::log10(deviation)));
      expect_above_samples(product_of_normals(deviation), point(1.0), options_of(method));
    }
  }
}

/// A random layer of scale `scale` behind s(z), then the fixed factor 1 / scale.
Network behind_small_noise(F function, double mean, double scale) {
  return {{random_weight(0.5, 1.0), random_weight(mean * scale, scale), fixed_weight(1.0 / scale)},
          {Activation(), Activation(function), Activation()}};
}

TEST(ExtremeScale, SmallNoiseBeforeALargeFactor) {
  for (const F function : {F::Identity, F::Relu, F::Tanh, F::Sigmoid, F::Gelu}) {
    for (const double scale : {1e-82, 1e-84, 1e-150}) {
      for (const Method method : methods()) {
        SCOPED_TRACE(std::string(to_string(function)) + ", " + std::string(to_string(method)) + ", scale " +
                     std::to_string(std::log10(scale)));
        expect_above_samples(behind_small_noise(function, 0.0, scale), point(1.0), options_of(method));
        expect_above_samples(behind_small_noise(function, 0.5, scale), point(1.0), options_of(method));
      }
    }
  }
}

TEST(ExtremeScale, LargeNoiseBeforeASmallFactor) {
  for (const F function : {F::Identity, F::Relu, F::Tanh}) {
    for (const double scale : {1e70, 1e78, 1e90, 1e140, 1e153}) {
      for (const Method method : methods()) {
        SCOPED_TRACE(std::string(to_string(function)) + ", " + std::string(to_string(method)) + ", scale " +
                     std::to_string(std::log10(scale)));
        expect_above_samples(behind_small_noise(function, 0.5, scale), point(1.0), options_of(method));
      }
    }
  }
}

TEST(ExtremeScale, SmallOutputWeight) {
  for (const F function : {F::Identity, F::Relu, F::Tanh}) {
    for (const double deviation : {1e-78, 1e-81, 1e-83, 1e-120, 1e-155}) {
      for (const Method method : methods()) {
        SCOPED_TRACE(std::string(to_string(function)) + ", " + std::string(to_string(method)) +
                     ", deviation " + std::to_string(std::log10(deviation)));
        const Network network =
            network_of({random_weight(0.0, 1.0), random_weight(0.0, deviation)}, function);
        expect_above_samples(network, point(1.0), options_of(method));
      }
    }
  }
}

TEST(ExtremeScale, SmallOutputWeightJointly) {
  const Matrix inputs = (Matrix(1, 2) << 1.0, -0.5).finished();
  for (const F function : {F::Identity, F::Relu, F::Tanh}) {
    for (const double deviation : {1e-78, 3e-80, 1e-81, 1e-120, 1e-155}) {
      for (const Method method : methods()) {
        SCOPED_TRACE(std::string(to_string(function)) + ", " + std::string(to_string(method)) +
                     ", deviation " + std::to_string(std::log10(deviation)));
        const Network network =
            network_of({random_weight(0.0, 1.0), random_weight(0.0, deviation)}, function);
        expect_above_samples(network, inputs, options_of(method, true));
      }
    }
  }
}

TEST(ExtremeScale, SmallHiddenLayers) {
  for (const F function : {F::Identity, F::Relu, F::LeakyRelu}) {
    for (const double scale : {1e-80, 1e-140, 1e-148, 1e-152, 1e-155}) {
      for (const Method method : methods()) {
        SCOPED_TRACE(std::string(to_string(function)) + ", " + std::string(to_string(method)) + ", scale " +
                     std::to_string(std::log10(scale)));
        const Network network =
            network_of({random_weight(0.0, scale), random_weight(0.3, 1.0), fixed_weight(1.0)}, function);
        expect_above_samples(network, point(1.0), options_of(method));
      }
    }
  }
}

/// Two hidden layers, where (Y.20), (Y.28) and (Y.30) speak: a factor that cancels must not be seen.
TEST(ExtremeScale, TwoHiddenLayersDoNotSeeAFactorThatCancels) {
  for (const Index outputs : {1, 2}) {
    NetworkRecipe recipe;
    recipe.widths = {2, 5, 4, outputs};
    recipe.activation = F::Relu;
    recipe.bias = BiasFamily::Deterministic;
    const Network plain = random_network(recipe);
    const Vector input = Vector::Constant(2, 0.8);
    const double expected = certify(plain, input, options_of(Method::Auto)).front().w2.value;
    for (const int exponent : {-30, -200, -250, -266, -270, -280, -400, 250, 280}) {
      const auto scaled = [](const DenseLayer& layer, int weights, int bias) {
        const Matrix variance = std::get<MeanFieldWeights>(layer.weights()).variance;
        return DenseLayer(layer.name(), std::ldexp(1.0, weights) * layer.weight_mean(),
                          std::ldexp(1.0, bias) * layer.bias_mean(),
                          MeanFieldWeights{std::ldexp(1.0, 2 * weights) * variance}, DeterministicBias{});
      };
      const Network network =
          network_of({scaled(plain.layer(0), exponent, exponent), scaled(plain.layer(1), 0, exponent),
                      scaled(plain.layer(2), -exponent, 0)},
                     F::Relu);
      const std::optional<Result> result = answered(network, input, options_of(Method::Auto));
      if (!result) continue;
      EXPECT_NEAR(result->w2.value, expected, 0.01 * expected) << "2^" << exponent;
    }
  }
}

}  // namespace extreme_scale_test
}  // namespace mixcert::testing
