// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks at extreme scales whose output is a point or a Gaussian: moments in fifty digits say how far the
// mixture is from it, and the bound is no smaller.
#include <gtest/gtest.h>

#include <string>

#include "certify/extreme_scale.h"
#include "certify/scale_reference.h"
#include "certify/small_networks.h"
#include "mixcert/network/network_builder.h"

namespace mixcert::testing {
namespace extreme_scale_exact_test {

using F = ActivationFunction;

void expect_above_moments(const Network& network, const Vector& input, const Options& options) {
  const std::optional<Result> result = answered(network, input, options);
  if (!result) return;
  EXPECT_LE(moment_lower_bound(precise_moments(network, input), precise_moments(result->mixture)),
            result->w2.value);
}

TEST(ExtremeScaleExactly, FixedWeights) {
  Matrix first(3, 2);
  first << 0.1, -0.7, 0.3, 0.9, -1.1, 0.37;
  Matrix second(2, 3);
  second << 0.77, -0.13, 0.41, 1.3, 0.59, -0.31;
  const Vector input = (Vector(2) << 0.3, -0.7).finished();
  for (const F function : all_activation_functions()) {
    for (const int exponent : {-60, -100, -150, -165, -200, -260, -290, 60, 100, 150, 200, 290}) {
      const double scale = std::pow(10.0, exponent);
      for (const Method method : methods()) {
        SCOPED_TRACE(std::string(to_string(function)) + ", " + std::string(to_string(method)) + ", scale 1e" +
                     std::to_string(exponent));
        const Options options = options_of(method);
        expect_above_moments(network_of({fixed_layer(scale * first), fixed_layer(second)}, function), input,
                             options);
        expect_above_moments(network_of({fixed_layer(first), fixed_layer(scale * second)}, function), input,
                             options);
        expect_above_moments(network_of({fixed_layer(scale * first), fixed_layer(second / scale)}, function),
                             input, options);
        expect_above_moments(network_of({fixed_layer(first), fixed_layer(second)}, function), scale * input,
                             options);
      }
    }
  }
}

/// Without a hidden layer the law is a Gaussian, and all of the bound is rounding.
TEST(ExtremeScaleExactly, OneRandomLayer) {
  const Matrix mean = (Matrix(2, 3) << 0.77, -0.13, 0.41, 1.3, 0.59, -0.31).finished();
  const Vector input = (Vector(3) << 0.3, -0.7, 1.9).finished();
  for (const int exponent : {-60, -100, -140, -150, -153, -156, -158, -165, -200, 60, 100, 140, 150}) {
    const double scale = std::pow(10.0, exponent);
    const DenseLayer layer = mean_field_layer(scale * mean, scale * (scale * mean.cwiseAbs()),
                                              Vector::Zero(2), Vector::Constant(2, 0.1 * scale * scale));
    const DenseLayer ordinary = mean_field_layer(mean, mean.cwiseAbs(), Vector::Zero(2), Vector::Zero(2));
    for (const Method method : methods()) {
      SCOPED_TRACE(std::string(to_string(method)) + ", scale 1e" + std::to_string(exponent));
      expect_above_moments(network_of({layer}, F::Identity), input, options_of(method));
      // Variances of the output may be no doubles where means still are.
      for (const double small : {1e-8, 1e-60, 1e-100}) {
        expect_above_moments(network_of({layer}, F::Identity), small * input, options_of(method));
      }
      expect_above_moments(network_of({ordinary}, F::Identity), scale * input, options_of(method));
    }
  }
}

/// Fixed layers in front are evaluated once; what rounding does to them is charged to the layer behind.
TEST(ExtremeScaleExactly, FixedLayersInFront) {
  const Matrix first = (Matrix(3, 2) << 0.1, -0.7, 0.3, 0.9, -1.1, 0.37).finished();
  const Matrix second = (Matrix(2, 3) << 0.77, -0.13, 0.41, 1.3, 0.59, -0.31).finished();
  const Vector input = (Vector(2) << 0.3, -0.7).finished();
  for (const F function : {F::Identity, F::Relu, F::Gelu}) {
    for (const int exponent : {-60, -100, -150, -165, -200, -290, 60, 100, 150, 165, 200, 290}) {
      const double scale = std::pow(10.0, exponent);
      const auto in_front = [&](double front, double behind) {
        return std::vector<DenseLayer>{
            fixed_layer(front * first),
            {"last", behind * second, Vector::Zero(2), DeterministicWeights{}, DeterministicBias{}}};
      };
      for (const auto& layers : {in_front(scale, 1.0 / scale), in_front(scale, 1.0), in_front(1.0, scale)}) {
        SCOPED_TRACE(std::string(to_string(function)) + ", scale 1e" + std::to_string(exponent));
        const Network built =
            build_network({LayerSpec{DenseSpec{layers[0]}}, LayerSpec{ActivationSpec{Activation(function)}},
                           LayerSpec{DenseSpec{layers[1]}}});
        const std::optional<Result> result = answered(built, input, options_of(Method::Auto));
        if (!result) continue;
        const PreciseMoments exact = precise_moments(network_of(layers, function), input);
        EXPECT_LE(moment_lower_bound(exact, precise_moments(result->mixture)), result->w2.value);
      }
    }
  }
}

}  // namespace extreme_scale_exact_test
}  // namespace mixcert::testing
