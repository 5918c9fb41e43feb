// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Parts of the Stein bound, docs/theory/stein.md (Y.11), (Y.12): closed forms of ReLU against cells, tables
// of logarithms, moments of the noise, the integral over the flow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "theorems/stein/neuron_kernels.h"
#include "theorems/stein/noise_transform.h"
#include "theorems/stein/stein_distance.h"

namespace mixcert::testing {
namespace stein_parts_test {

/// Simpson's rule for the definition.
TEST(Stein, SquaredTailsAreIntegrals) {
  for (const double k : {-17.3, -6.01, -1.0, -1e-17, 0.3, 4.9375, 11.0}) {
    const SquaredTails tails = squared_tails(k);
    for (int n = 0; n < kTailPowers; ++n) {
      constexpr int kSteps = 100000;
      const double step = (std::max(k, 0.0) + 10.0 - k) / kSteps;
      double sum = 0.0;
      for (int i = 0; i <= kSteps; ++i) {
        const double u = i * step, x = k + u, tail = 0.5 * std::erfc(x / std::sqrt(2.0));
        const double factor = i == 0 || i == kSteps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        sum += factor / 3.0 * step * std::pow(u, n) * tail * tail * std::sqrt(2.0 * M_PI) *
               std::exp(0.5 * x * x);
      }
      const auto p = static_cast<std::size_t>(n);
      EXPECT_NEAR(tails.value[p], sum, tails.error[p] + 1e-10 * sum) << "k " << k << " n " << n;
      if (std::abs(k) < 8.0) {
        EXPECT_LE(tails.error[p], 1e-7 * sum) << "k " << k << " n " << n;
      }
    }
  }
}

/// Closed forms against sums over cells, far into both tails.
TEST(Stein, ReluKernelsAgreeWithCells) {
  const Activation relu(ActivationFunction::Relu);
  for (const double s : {1e-3, 1.0, 40.0}) {
    for (const double kink :
         {-19.9, -12.3, -8.0, -4.125, -2.0, -0.7, -1e-9, 0.0, 0.06, 0.5, 1.3, 3.0, 5.5, 9.0}) {
      const double m = -kink * s;
      ASSERT_TRUE(has_relu_kernels(m, s));
      const NeuronKernels closed = relu_kernels(m, s);
      const Enclosed mean = gaussian_moments(relu, m, s).mean;
      const KernelArray centers = closed.centers();
      const KernelSquares cells = kernel_squares(relu, m, s, mean, closed.variance, centers);
      SCOPED_TRACE(::testing::Message() << "kink " << kink << " deviation " << s);
      const auto expect_near = [&](double one, double other, double p, double q, double x, double y,
                                   double size) {
        const double slack = x * q + y * p + p * q;
        EXPECT_NEAR(one, other, slack + 1e-5 * x * y + 1e-13 * size);
      };
      for (int p = 0; p < 3; ++p) {
        for (int q = 0; q < 3; ++q) {
          expect_near(closed.squares.second(p, q), cells.second(p, q), cells.rest[p], cells.rest[q],
                      std::sqrt(cells.second(p, p)), std::sqrt(cells.second(q, q)),
                      std::pow(s, 6) * std::pow(1.0 + std::abs(kink), 4));
        }
      }
      for (int p = 0; p < 2; ++p) {
        for (int q = 0; q < 2; ++q) {
          expect_near(closed.squares.third(p, q), cells.third(p, q), cells.rest[kKernelValue + p],
                      cells.rest[kKernelValue + q], std::sqrt(cells.third(p, p)),
                      std::sqrt(cells.third(q, q)), std::pow(s, 8) * std::pow(1.0 + std::abs(kink), 6));
        }
      }
      EXPECT_NEAR(closed.tau.mean.value, gaussian_moments(relu, m, s).second.value - mean.value * mean.value,
                  1e-12 * s * s * (1.0 + kink * kink));
    }
  }
}

struct Case {
  ActivationFunction function;
  double m, s;
};

/// Places between the nodes of tables enclose expectation and logarithm.
TEST(Stein, DampingTablesEncloseTheExpectation) {
  using F = ActivationFunction;
  for (const auto& [function, m, s] :
       {Case{F::Tanh, 0.4, 0.8}, Case{F::Relu, -0.5, 1.0}, Case{F::Relu, 3.0, 0.3}}) {
    const Activation f(function, 0.1);
    const NeuronKernels kernels = neuron_kernels(f, m, s, gaussian_moments(f, m, s).mean);
    const NeuronDamping damping(f, m, s, kernels);
    DampingTables tables({damping}, Vector::Constant(1, 0.02));
    tables.know(kArgumentCount);
    for (const double scale : {0.02, 0.0199999, 0.011, 0.0051, 0.0014142136, 2.1e-5}) {
      const DampingTables::Place place = tables.place(0, scale);
      ASSERT_TRUE(place.exists);
      for (int n = 0; n < 30; ++n) {
        const NeuronDamping::Range truth = damping.at(kLeastArgument * std::pow(2.0, 0.5 * n) * scale);
        const double upper = (1.0 - place.x) * place.upper[n] + place.x * place.upper[n + 1];
        const double logarithm = (1.0 - place.x) * place.logarithm[n] + place.x * place.logarithm[n + 1];
        const double inverse = std::min(place.inverse[n + 1], place.inverse[n] + place.x * place.rise[n]);
        EXPECT_GE(upper, truth.lower);
        EXPECT_GE(logarithm, std::log(truth.lower) - 1e-9);
        EXPECT_GE(inverse, 1.0 / truth.upper);
        if (n > 19 || truth.lower < 0.1) continue;  // little is known, and little needed
        EXPECT_GE(1.0 - upper, 0.97 * (1.0 - truth.lower) - 1e-8) << scale << " " << n;
        EXPECT_LE(logarithm, 0.97 * truth.logarithm) << scale << " " << n;
        EXPECT_LE(inverse - 1.0, 1.1 * (1.0 / truth.lower - 1.0) + 1e-7) << scale << " " << n;
      }
    }
    EXPECT_FALSE(tables.place(0, 1e-6).exists);
  }
}

/// One output with constant noise: the integral is known.
TEST(Stein, FlowIsNotBelowItsIntegral) {
  for (const double share : {0.9, 0.3, 0.03, 0.003}) {
    SteinNorms norms;
    norms.first = 1e6;
    norms.second.mean = Matrix::Ones(1, 1);
    norms.second.fluctuation = norms.second_shared = Matrix::Zero(1, 1);
    norms.third.mean = norms.third.fluctuation = Matrix::Zero(1, 1);
    const SteinCoordinates at{true, Matrix::Ones(1, 1), Vector::Zero(1), Vector::Constant(1, share)};
    double integral = 0.0;
    constexpr double kStep = 1e-5;
    for (double w = 0.5 * kStep; w < 1.0; w += kStep)
      integral += kStep * w * w / (1.0 - (1.0 - share) * w * w);
    const double bound = stein_flow(norms, at, {{OutputTransform{}}, Vector::Zero(1)});
    EXPECT_GE(bound, integral * (1.0 - 1e-6)) << share;
    EXPECT_LE(bound, integral * (1.006 + 6e-5 / share)) << share;
  }
}

/// E h^p of a gamma variable, h = 1/(1 - w^2 (1 - zeta)), whose Laplace transform is known.
TEST(Stein, NoiseMomentsAreThoseOfTheNoise) {
  constexpr double kShape = 9.0;
  OutputTransform output;
  output.count = kTransformNodes;
  for (int k = 0; k < kTransformNodes; ++k) {
    output.logarithm.push_back(-kShape * std::log1p(transform_node(k) / kShape));
    output.spread.push_back(0.0);
    output.growth.push_back(0.0);
  }
  for (const int power : {2, 3}) {
    const NoisePowers powers = noise_moments({{output}, Vector::Zero(1)});
    const NoiseMoments& moments = power == 2 ? powers.second : powers.third;
    for (const int node : {first_transform_flow_node(), kFlowCells / 2, kFlowCells - 1}) {
      const double w = flow_node(node);
      double mean = 0.0, mass = 0.0;
      for (double z = 0.0005; z < 8.0; z += 0.001) {
        const double weight = std::pow(z, kShape - 1.0) * std::exp(-kShape * z);
        mass += weight;
        mean += weight / std::pow(1.0 - w * w * (1.0 - z), power);
      }
      mean /= mass;
      const double bound = moments.plain(node - first_transform_flow_node(), 0);
      EXPECT_GE(bound, mean * (1.0 - 1e-6)) << power << " at " << w;
      EXPECT_LE(bound, mean * 1.05) << power << " at " << w;
    }
  }
}

}  // namespace stein_parts_test
}  // namespace mixcert::testing
