// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives through one neuron's moments at several inputs against differences of the certified moments.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "gradient/joint/joint_gradient.h"
#include "support/random_laws.h"

namespace mixcert {
namespace neuron_gradient_test {

using testing::random_matrix;

Matrix symmetric(Generator& generator, Index n) {
  const Matrix a = random_matrix(generator, n, n);
  return 0.5 * (a + a.transpose());
}

struct Case {
  ActivationFunction function;
  double mean;       ///< size of m
  double deviation;  ///< size of s
  Index inputs;
};

std::string name_of(const Case& c) {
  return std::string(to_string(c.function)) + "_mean" + std::to_string(static_cast<int>(10 * c.mean)) +
         "_deviation" + std::to_string(static_cast<int>(10 * c.deviation)) + "_inputs" +
         std::to_string(c.inputs);
}

class NeuronGradientTest : public ::testing::TestWithParam<Case> {};

/// <cotangent, moments> of one neuron.
double pairing(const Activation& f, const Vector& m, const Matrix& c, const NeuronCotangent& w) {
  CrossMoments moments;
  const Index inputs = m.size();
  moments.mean.resize(inputs, 1);
  moments.covariance.resize(inputs, inputs);
  moments.fourth.resize(inputs, inputs);
  for (Vector* field : {&moments.mean_error, &moments.error, &moments.fourth_error}) field->resize(1);
  moments.coordinates.resize(static_cast<std::size_t>(inputs));
  NeuronMoments(f, m, c, 0).write(0, moments);
  return w.mean.dot(moments.mean.col(0)) + w.covariance.cwiseProduct(moments.covariance).sum() +
         w.error * moments.error(0) + w.fourth.cwiseProduct(moments.fourth).sum() +
         w.fourth_error * moments.fourth_error(0);
}

TEST_P(NeuronGradientTest, AgreesWithDifferences) {
  const Case c = GetParam();
  const Activation f(c.function, 0.1);
  Generator generator = make_generator(7, Stream::Example, static_cast<std::uint64_t>(c.inputs));
  for (int part = 0; part < 5; ++part) {
    const Vector m = c.mean * random_matrix(generator, c.inputs, 1);
    const Matrix factor = random_matrix(generator, c.inputs, c.inputs + 1);
    const Matrix base = factor * factor.transpose() + Matrix::Constant(c.inputs, c.inputs, 2.0);
    const Matrix covariance = c.deviation * c.deviation / 3.0 * base;
    NeuronCotangent w = NeuronCotangent::zero(c.inputs);
    if (part == 0) w.mean = random_matrix(generator, c.inputs, 1);
    if (part == 1) w.covariance = symmetric(generator, c.inputs);
    if (part == 2) w.error = 1.0;
    if (part == 3) w.fourth = symmetric(generator, c.inputs);
    if (part == 4) w.fourth_error = 1.0;
    const BlockCotangent got = NeuronGradient(NeuronMoments(f, m, covariance, 0)).pull_back(w);
    // |f(m) - E a| has a kink at m = 0 for odd functions, f itself for piecewise linear ones.
    const Vector dm = (c.mean > 0.0 ? 1.0 : 0.0) * random_matrix(generator, c.inputs, 1);
    const Matrix dc = symmetric(generator, c.inputs).cwiseProduct(covariance.cwiseAbs());
    const auto along = [&](double t) { return pairing(f, m + t * c.deviation * dm, covariance + t * dc, w); };
    const double h = 1e-4;
    const double difference = (8.0 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12.0 * h);
    const double slope = c.deviation * got.mean.dot(dm) + got.covariance.cwiseProduct(dc).sum();
    // Errors that are roundings only are constants for the derivatives: they are small beside the moments.
    const double unit = std::pow(covariance.trace(), part < 3 ? 1.0 : 2.0);
    const double size =
        std::abs(along(0.0)) + std::abs(difference) + (part == 2 || part == 4 ? 5e-2 * unit : 0.0);
    EXPECT_NEAR(slope, difference, 2e-7 * size + 1e-11) << "part " << part;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const ActivationFunction f : all_activation_functions()) {
    for (const double mean : {0.0, 0.8}) {
      for (const double deviation : {0.4, 1.5}) all.push_back({f, mean, deviation, 4});
    }
    all.push_back({f, 0.3, 1.0, 1});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Neurons, NeuronGradientTest, ::testing::ValuesIn(cases()),
                         [](const auto& tested) { return name_of(tested.param); });

}  // namespace neuron_gradient_test
}  // namespace mixcert
