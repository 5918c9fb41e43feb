// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Pieces of (Y.3), (Y.4) and (Y.16) against sums over a fine grid, for random neurons of all kinds: each
// neuron's characteristic function must lie within the error claimed, damping and exponential moments must
// not lie above their bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "core/normal.h"
#include "mixcert/core/rng.h"
#include "theorems/output_law/placed_neuron.h"
#include "theorems/output_law/transform_product.h"

namespace mixcert::testing {
namespace output_law_cases_test {

using Complex = std::complex<double>;
constexpr double kStep = 1.0 / 128.0;

/// Sum over x in [-reach, reach] of `term`(x, log of the weight), cut at the kink: Boole's rule.
/// Steps are short enough for the frequency t.
template <class Term>
void integrate(const SummandNeuron& neuron, double reach, const Term& term, double t = 0.0) {
  const double fastest = t * (std::abs(neuron.weight) + neuron.noise) * neuron.deviation;
  const double longest = std::min(kStep, 0.05 / (fastest + 1e-9));
  const double kink =
      neuron.deviation > 0.0 ? std::clamp(-neuron.mean / neuron.deviation, -reach, reach) : 0.0;
  for (const auto& [a, b] : {std::pair(-reach, kink), std::pair(kink, reach)}) {
    if (!(a < b)) continue;
    const int cells = 4 * static_cast<int>(std::ceil((b - a) / (4.0 * longest)));
    const double step = (b - a) / cells;
    for (int i = 0; i <= cells; ++i) {
      const double x = a + i * step;
      const double factor = i == 0 || i == cells ? 7.0 : i % 2 == 1 ? 32.0 : i % 4 == 2 ? 12.0 : 14.0;
      term((*neuron.activation)(neuron.mean + neuron.deviation * x),
           std::log(2.0 / 45.0 * factor * step) - 0.5 * x * x - 0.5 * std::log(2.0 * M_PI));
    }
  }
}

Complex transform(const SummandNeuron& neuron, double t) {
  Complex sum = 0.0;
  integrate(
      neuron, 9.5,
      [&](double a, double log_weight) {
        const double noise = t * neuron.noise * a;
        sum += std::exp(Complex(log_weight - 0.5 * noise * noise, t * neuron.weight * (a - neuron.center)));
      },
      t);
  return sum;
}

double log_moment(const SummandNeuron& neuron, double order) {
  double sum = 0.0, largest = -INFINITY;
  integrate(neuron, 30.0, [&](double a, double log_weight) {
    const double noise = order * neuron.noise * a;
    const double exponent = log_weight + order * neuron.weight * (a - neuron.center) + 0.5 * noise * noise;
    if (exponent > largest) {
      sum = sum * std::exp(largest - exponent) + 1.0;
      largest = exponent;
    } else {
      sum += std::exp(exponent - largest);
    }
  });
  return largest + std::log(sum);
}

struct RandomNeuron {
  Activation activation;
  SummandNeuron neuron;

  explicit RandomNeuron(std::uint64_t seed) {
    static const ActivationFunction functions[] = {
        ActivationFunction::Tanh,    ActivationFunction::Tanh, ActivationFunction::Sigmoid,
        ActivationFunction::Erf,     ActivationFunction::Gelu, ActivationFunction::Silu,
        ActivationFunction::Relu,    ActivationFunction::Elu,  ActivationFunction::LeakyRelu,
        ActivationFunction::Softplus};
    Generator generator(seed);
    const auto between = [&](double a, double b) { return a + (b - a) * uniform(generator); };
    activation = Activation(functions[static_cast<std::size_t>(between(0.0, 9.999))], 0.1);
    static const ActivationFunction further[] = {ActivationFunction::Mish, ActivationFunction::LogSigmoid,
                                                 ActivationFunction::Tanhshrink};
    if (seed % 4 == 3) activation = Activation(further[seed / 4 % 3]);
    neuron.mean = between(-5.0, 5.0) * (uniform(generator) < 0.5 ? 0.2 : 1.0);
    neuron.deviation = std::pow(10.0, between(-2.5, 0.5));
    neuron.activation = &activation;
    // Near the mean of a, as stored means are, but not equal to it.
    double mean = 0.0, second = 0.0;
    integrate(neuron, 9.5, [&](double a, double log_weight) {
      mean += std::exp(log_weight) * a;
      second += std::exp(log_weight) * a * a;
    });
    neuron.center = mean + 1e-9;
    neuron.center_error = 1.1e-9;
    neuron.second = second;
    neuron.second_error = 1e-9;
    const double spread = std::sqrt(std::max(1e-16, second - mean * mean));
    neuron.weight = std::pow(10.0, between(-3.0, -0.6)) / spread * (uniform(generator) < 0.5 ? -1.0 : 1.0);
    neuron.noise = std::pow(10.0, between(-3.0, -0.6)) / std::sqrt(second + 1e-6);
    const double kind = uniform(generator);
    if (kind < 0.2) neuron.weight *= 0.01;
    if (kind > 0.2 && kind < 0.4) neuron.noise = 0.0;
    if (kind > 0.9) neuron.weight *= 10.0;
  }
};

/// Values within the claimed error at all frequencies; counts those with a useful one at low frequencies.
void check_factor(const SummandNeuron& neuron, const Frequencies& frequencies, const TransformFactor& factor,
                  const std::string& name, Index& useful) {
  for (Index k = 0; k < frequencies.count; k += 3) {
    const auto b = static_cast<std::size_t>(k / 4);
    const double error = factor.error[b](k % 4);
    if (!(error < 0.5)) continue;
    const Complex value(factor.real[b](k % 4), factor.imaginary[b](k % 4));
    const double t = frequencies.spacing * static_cast<double>(k + 1);
    const double off = std::abs(value - transform(neuron, t));
    // The grid's own sum is good to 1e-12, about.
    EXPECT_LE(off, error + 4e-12) << name << ", frequency " << t;
    if (k == 3 && error < 1e-9) ++useful;
  }
}

TEST(LinePieces, CharacteristicFunctionsLieWithinTheirErrors) {
  Index by_nodes = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomNeuron random(seed);
    const SummandNeuron& neuron = random.neuron;
    const std::string name =
        "seed " + std::to_string(seed) + ", " + std::string(to_string(random.activation.function()));
    const Frequencies frequencies(0.4 + 0.01 * static_cast<double>(seed % 7), 24);
    TransformFactor factor(frequencies.time.size());
    const NeuronNodes nodes(neuron, NodeDemand{9.0, 0.0, 0.7, 24.0});
    factor_by_nodes(neuron, nodes, frequencies, factor);
    check_factor(neuron, frequencies, factor, name + " by nodes", by_nodes);
    for (const double t : {1.0, 6.0, 20.0}) {
      double damping = 0.0;
      integrate(neuron, 9.5, [&](double a, double log_weight) {
        damping += std::exp(log_weight - 0.5 * std::pow(t * neuron.noise * a, 2));
      });
      EXPECT_GE(nodes.damping(t), damping * (1.0 - 1e-12)) << name;
    }
  }
  EXPECT_GE(by_nodes, 45);
}

TEST(LinePieces, ExponentialMomentsAreNotAboveTheirBounds) {
  Index useful = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomNeuron random(seed);
    const NeuronConcentration concentration(random.neuron);
    for (const double order : {2.0, 5.25}) {
      const NeuronNodes::LogMoments bounds = concentration.log_moments(random.neuron, order);
      EXPECT_GE(bounds.plus, log_moment(random.neuron, order) - 1e-11) << "seed " << seed;
      EXPECT_GE(bounds.minus, log_moment(random.neuron, -order) - 1e-11) << "seed " << seed;
      if (bounds.plus < 2.0 * log_moment(random.neuron, order) + 0.05) ++useful;
    }
  }
  EXPECT_GE(useful, 60);
}

/// Where errors are above 1/2, or not numbers, nothing is claimed but |f| <= 1.
TEST(LinePieces, ProductsOfUnknownFactorsAreUnknown) {
  const Frequencies frequencies(0.5, 4);
  TransformProduct product(frequencies, 0.01);
  TransformFactor factor(1);
  factor.real[0] = FourValues(0.9, 0.9, 5.0, 0.9);
  factor.imaginary[0] = FourValues::Zero();
  factor.error[0] = FourValues(0.01, 1.7, INFINITY, 0.1);
  product.multiply(factor);
  product.multiply(factor);
  EXPECT_LE(std::abs(product.real(0) - 0.81 * std::exp(-0.5 * 0.01 * 0.25)), 1e-15);
  EXPECT_GE(product.error(0), 2 * 0.9 * 0.01 * std::exp(-0.5 * 0.01 * 0.25));
  EXPECT_LE(product.error(0), 0.0183);
  for (const Index k : {1, 2}) {
    EXPECT_EQ(product.real(k), 0.0);
    EXPECT_GE(product.error(k), std::exp(-0.5 * 0.01 * 0.25 * static_cast<double>((k + 1) * (k + 1))));
  }
}

}  // namespace output_law_cases_test
}  // namespace mixcert::testing
