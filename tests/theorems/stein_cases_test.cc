// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Stein bounds for several outputs, docs/theory/stein.md (Y.9) - (Y.14): kernels against their definitions,
// bounds against the exact distances of projections, which are no more than the distance itself.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "theorems/output_law_oracle.h"
#include "theorems/stein/noise_transform.h"

namespace mixcert::testing {
namespace stein_cases_test {

/// Functions of one neuron on a fine grid, and D c by the definition.
struct NaiveKernels {
  static constexpr int kNodes = 40001;
  static constexpr double kEnd = 10.0;
  std::vector<double> density, value, slope;

  NaiveKernels(const Activation& f, double m, double s) : density(kNodes), value(kNodes), slope(kNodes) {
    for (int i = 0; i < kNodes; ++i) {
      const double x = -kEnd + i * step();
      density[i] = std::exp(-0.5 * x * x) / std::sqrt(2.0 * M_PI);
      value[i] = f(m + s * x);
      slope[i] = s * f.derivative(m + s * x);
    }
  }
  static double step() { return 2.0 * kEnd / (kNodes - 1); }
  double mean(const std::function<double(int)>& function) const {
    double sum = 0.0;
    for (int i = 0; i < kNodes; ++i) sum += step() * density[i] * function(i);
    return sum;
  }
  std::vector<double> kernel(const std::function<double(int)>& function) const {
    const double center = mean(function);
    std::vector<double> result(kNodes);
    double sum = 0.0;
    for (int i = 0; i < kNodes / 2; ++i) {
      const double term = step() * density[i] * (function(i) - center);
      sum += term;
      result[i] = -(sum - 0.5 * term) / density[i] * slope[i];
    }
    sum = 0.0;
    for (int i = kNodes - 1; i >= kNodes / 2; --i) {
      const double term = step() * density[i] * (function(i) - center);
      sum += term;
      result[i] = (sum - 0.5 * term) / density[i] * slope[i];
    }
    return result;
  }
};

struct KernelCase {
  ActivationFunction function;
  double m, s;
};

void expect_kernel(const NaiveKernels& naive, const std::function<double(int)>& kernel, const KernelLaw& law,
                   const char* name) {
  const double mean = naive.mean(kernel);
  const double square = naive.mean([&](int i) { return kernel(i) * kernel(i); });
  const double size = std::sqrt(square);
  EXPECT_NEAR(law.mean.value, mean, law.mean.error + 1e-3 * size + 1e-7) << name;
  const double deviation = std::sqrt(std::max(0.0, square - mean * mean));
  EXPECT_GE(law.deviation, deviation * (1.0 - 1e-3) - 1e-6 * size) << name;
  EXPECT_LE(law.deviation, 1.1 * deviation + 0.02 * size + 0.02) << name;
}

/// Chords and remainders of two kernels: the covariance is that of the chords up to the remainders.
void expect_covariance(const NaiveKernels& naive, const std::function<double(int)>& one,
                       const std::function<double(int)>& other, const KernelSquares& squares, int p, int q) {
  const double covariance =
      naive.mean([&](int i) { return one(i) * other(i); }) - naive.mean(one) * naive.mean(other);
  const double x = std::sqrt(squares.second(p, p)), y = std::sqrt(squares.second(q, q));
  const double slack = x * squares.rest[q] + y * squares.rest[p] + squares.rest[p] * squares.rest[q];
  EXPECT_NEAR(squares.second(p, q), covariance, slack + 2e-3 * x * y + 1e-9) << p << " " << q;
}

TEST(Stein, KernelsAgreeWithTheirDefinition) {
  using F = ActivationFunction;
  for (const auto& [function, m, s] :
       {KernelCase{F::Tanh, 0.4, 0.8}, KernelCase{F::Tanh, -1.0, 3.0}, KernelCase{F::Relu, 0.4, 0.8},
        KernelCase{F::Relu, -1.5, 0.6}, KernelCase{F::Gelu, 0.2, 0.5}, KernelCase{F::Elu, -0.3, 1.0},
        KernelCase{F::LeakyRelu, 0.0, 1.0}, KernelCase{F::Softplus, -2.0, 1.5},
        KernelCase{F::Identity, 0.5, 0.7}, KernelCase{F::Mish, -0.5, 1.2},
        KernelCase{F::LogSigmoid, 1.0, 1.5}, KernelCase{F::Tanhshrink, 0.3, 0.9}}) {
    SCOPED_TRACE(std::string(to_string(function)));
    const Activation f(function, 0.1);
    const NeuronKernels kernels = neuron_kernels(f, m, s, gaussian_moments(f, m, s).mean);
    const NaiveKernels naive(f, m, s);
    const auto& a = naive.value;
    const std::vector<double> tau = naive.kernel([&](int i) { return a[i]; });
    const std::vector<double> second = naive.kernel([&](int i) { return tau[i]; });
    const std::vector<double> square = naive.kernel([&](int i) { return a[i] * a[i]; });
    expect_kernel(
        naive, [&](int i) { return tau[i]; }, kernels.tau, "tau");
    expect_kernel(
        naive, [&](int i) { return tau[i] * a[i]; }, kernels.tau_value, "tau a");
    expect_kernel(
        naive, [&](int i) { return second[i]; }, kernels.kernel, "Dt");
    expect_kernel(
        naive, [&](int i) { return square[i]; }, kernels.square, "Dq");
    expect_kernel(
        naive, [&](int i) { return a[i] * second[i]; }, kernels.kernel_value, "a Dt");
    expect_kernel(
        naive, [&](int i) { return a[i] * square[i]; }, kernels.square_value, "a Dq");
    const std::function<double(int)> all[] = {[&](int i) { return tau[i] * a[i]; },
                                              [&](int i) { return second[i]; },
                                              [&](int i) { return square[i]; }};
    for (int p = 0; p < 3; ++p) {
      for (int q = 0; q < p; ++q) expect_covariance(naive, all[p], all[q], kernels.squares, p, q);
    }
  }
}

/// E exp(-y a^2) from both sides.
TEST(Stein, DampingEnclosesItsExpectation) {
  using F = ActivationFunction;
  for (const auto& [function, m, s] :
       {KernelCase{F::Tanh, 0.4, 0.8}, KernelCase{F::Relu, -0.5, 1.0}, KernelCase{F::LeakyRelu, 0.3, 2.0},
        KernelCase{F::Gelu, 1.0, 0.5}, KernelCase{F::Elu, -0.3, 1.0}, KernelCase{F::Identity, 2.0, 0.7}}) {
    const Activation f(function, 0.1);
    const NeuronKernels kernels = neuron_kernels(f, m, s, gaussian_moments(f, m, s).mean);
    const NeuronDamping damping(f, m, s, kernels);
    const NaiveKernels naive(f, m, s);
    for (const double y : {1e-6, 0.01, 0.3, 2.0, 30.0}) {
      const double mean = naive.mean([&](int i) { return std::exp(-y * naive.value[i] * naive.value[i]); });
      EXPECT_LE(damping.at(y).lower, mean + 1e-7) << to_string(function) << " y " << y;
      EXPECT_GE(damping.at(y).upper, mean - 1e-7) << to_string(function) << " y " << y;
      if (y < 1.0) {
        EXPECT_LE(damping.at(y).upper, 1.02 * mean + 1e-6) << to_string(function) << " y " << y;
      }
    }
  }
}

/// Neurons that hardly move: s^2 underflows or nearly so, and m/s is huge. Their activation is f(m).
TEST(Stein, DampingOfNearlyConstantNeurons) {
  using F = ActivationFunction;
  for (const double variance : {5e-324, 1e-323, 4.9e-321, 1e-310, 3e-291, 1e-200, 1e-60}) {
    for (const double size : {1.0, 0x1p52}) {
      for (const auto& [function, m] : {std::pair{F::Relu, 5.314}, std::pair{F::LeakyRelu, -5.314},
                                        std::pair{F::LeakyRelu, 2.0}, std::pair{F::Identity, -3.0}}) {
        const Activation f(function, 0.1);
        const double mean = m * size, s = std::sqrt(variance), a = f(mean);
        const NeuronKernels kernels = neuron_kernels(f, mean, s, gaussian_moments(f, mean, s).mean);
        const NeuronDamping damping(f, mean, s, kernels);
        for (const double exponent : {0.01, 0.3, 5.6, 8.5, 40.0}) {
          const double exact = std::exp(-exponent);
          const NeuronDamping::Range range = damping.at(exponent / a / a);
          EXPECT_LE(range.lower, exact * (1.0 + 1e-12))
              << to_string(function) << " " << variance << " " << mean;
          EXPECT_GE(range.upper, exact * (1.0 - 1e-12))
              << to_string(function) << " " << variance << " " << mean;
        }
      }
    }
  }
}

TEST(Stein, RandomLayersAreNotBelowTheirProjections) { EXPECT_GE(check_random_layers(1, 20), 12); }

/// Wide layers: no more than four times the largest projection that was looked at, for one output.
TEST(Stein, IsTightForManyNeurons) {
  LayerNetwork net = random_layer_network(5, 1, 64);
  const double bound = stein_distance(net);
  const double truth = largest_projection(net);
  EXPECT_GE(bound, truth * (1.0 - 1e-3));
  EXPECT_LE(bound, 4.0 * truth);
}

}  // namespace stein_cases_test
}  // namespace mixcert::testing
