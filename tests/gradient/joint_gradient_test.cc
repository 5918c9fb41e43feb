// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The joint moment method's derivatives end to end against differences of its certified bound and of its
// Gaussian.
#include "gradient/joint/joint_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "gradient/gradient_checks.h"
#include "support/random_laws.h"

namespace mixcert {
namespace joint_gradient_test {

using testing::random_matrix;

struct Case {
  std::string name;
  std::vector<Index> widths;
  ActivationFunction activation;
  double mean;  ///< size of mean weights; 0: a prior
  Index inputs;
  RidgeRule ridge;
};

Network random_network(Generator& generator, const Case& c) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (std::size_t k = 0; k + 1 < c.widths.size(); ++k) {
    const Index in = c.widths[k];
    const Index out = c.widths[k + 1];
    const double scale = 1.0 / std::sqrt(static_cast<double>(in));
    const Matrix variance = scale * scale * (random_matrix(generator, out, in).cwiseAbs().array() + 0.2);
    const Vector bias_variance = 0.3 * (random_matrix(generator, out, 1).cwiseAbs().array() + 0.1);
    layers.emplace_back("layer" + std::to_string(k), c.mean * scale * random_matrix(generator, out, in),
                        0.3 * random_matrix(generator, out, 1), MeanFieldWeights{variance},
                        IndependentBias{bias_variance});
    activations.emplace_back(Activation(k == 0 ? ActivationFunction::Identity : c.activation, 0.1));
  }
  return {std::move(layers), std::move(activations)};
}

/// Mean weights of zero stay zero in a prior.
NetworkGradient direction_of(Generator& generator, const Network& network, const Case& c) {
  NetworkGradient direction = testing::random_direction(generator, network);
  for (LayerGradient& layer : direction) {
    if (c.mean == 0.0) layer.weight_mean.setZero();
  }
  return direction;
}

class JointGradientTest : public ::testing::TestWithParam<Case> {};

TEST_P(JointGradientTest, AgreesWithDifferences) {
  const Case& c = GetParam();
  Generator generator = make_generator(11, Stream::Example, static_cast<std::uint64_t>(c.inputs));
  const Matrix inputs = random_matrix(generator, c.widths.front(), c.inputs);
  const Index size = c.widths.back() * c.inputs;
  const Matrix half = random_matrix(generator, size, size);
  const MixtureCotangent weights{{random_matrix(generator, size, 1)}, {half + half.transpose()}};
  const Network network = random_network(generator, c);
  const JointMomentPass pass(network, inputs, c.ridge, {});
  for (const double bound_weight : {0.0, 1.0}) {
    const MixtureCotangent cotangent = bound_weight == 0.0 ? weights : MixtureCotangent{};
    const NetworkGradient gradient = pass.backward(bound_weight, cotangent);
    const NetworkGradient d = direction_of(generator, network, c);
    const auto along = [&](double t) {
      const Network other = testing::moved(network, d, t);
      const JointMomentPass at(other, inputs, c.ridge, {});
      for (std::size_t k = 0; k < at.trace().layers.size(); ++k) {
        // Forms agree where A is diagonal: which of them is the first is rounding.
        if (c.mean > 0.0) {
          EXPECT_EQ(at.certificate().layers[k].metric, pass.certificate().layers[k].metric);
        }
        EXPECT_EQ(at.trace().layers[k].noise.ridge, pass.trace().layers[k].noise.ridge);
        EXPECT_EQ(at.trace().layers[k].noise.trivial, pass.trace().layers[k].noise.trivial);
      }
      if (bound_weight > 0.0) return at.bound();
      const Gaussian& q = at.mixture().component(0);
      return weights.means.front().dot(q.mean) +
             weights.covariances.front().cwiseProduct(q.covariance.to_dense()).sum();
    };
    const double difference = testing::difference(along, 1e-3);
    EXPECT_NEAR(testing::dot(gradient, d), difference, 1e-6 * (std::abs(difference) + std::abs(along(0.0))))
        << (bound_weight > 0.0 ? "bound" : "law");
  }
}

std::vector<Case> cases() {
  using F = ActivationFunction;
  const auto tight = RidgeRule::LeastBound;
  const auto least = RidgeRule::Least;
  return {{"PriorTanh", {2, 12, 1}, F::Tanh, 0.0, 3, tight},
          {"PriorTanhTwoLayers", {2, 10, 9, 1}, F::Tanh, 0.0, 3, tight},
          {"PriorReluTwoOutputs", {3, 10, 9, 2}, F::Relu, 0.0, 3, tight},
          {"PriorLeastRidge", {1, 10, 9, 1}, F::Tanh, 0.0, 4, least},
          {"Tanh", {2, 7, 1}, F::Tanh, 0.7, 3, tight},
          {"ReluTwoLayers", {2, 8, 6, 2}, F::Relu, 0.7, 2, tight},
          {"TanhThreeLayers", {2, 6, 5, 6, 2}, F::Tanh, 0.7, 2, tight},
          {"GeluLeastRidge", {2, 6, 5, 2}, F::Gelu, 0.7, 2, least},
          {"SigmoidOneInput", {2, 6, 5, 1}, F::Sigmoid, 0.7, 1, tight}};
}

INSTANTIATE_TEST_SUITE_P(Networks, JointGradientTest, ::testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace joint_gradient_test
}  // namespace mixcert
