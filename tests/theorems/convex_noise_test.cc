// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Roots of convex noise, docs/theory/convex_noise.md (Y.27): against integrals on fine grids, against samples
// of correlated neurons, and where it must not be used.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/normal.h"
#include "methods/moment/moment_error.h"
#include "mixcert/certify/certify.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace convex_noise_test {

using F = ActivationFunction;

struct RootMoments {
  double variance = 0.0;              ///< of S/E S
  double u4 = 0.0;                    ///< E (S/E S - 1)^4
  double square = 0.0, fourth = 0.0;  ///< of r - 1
};

/// From values of S with their weights.
RootMoments root_moments(const std::vector<std::pair<double, double>>& values) {
  double mass = 0.0, mean = 0.0;
  for (const auto& [s, w] : values) {
    mass += w;
    mean += w * s;
  }
  mean /= mass;
  RootMoments all;
  for (const auto& [s, w] : values) {
    const double u = s / mean - 1.0, r = std::sqrt(s / mean) - 1.0;
    all.variance += w / mass * u * u;
    all.u4 += w / mass * u * u * u * u;
    all.square += w / mass * r * r;
    all.fourth += w / mass * r * r * r * r;
  }
  return all;
}

RootMoments neuron_moments(const Activation& f, double m, double s, double beta) {
  std::vector<std::pair<double, double>> values;
  for (double x = -9.0; x <= 9.0; x += 2e-3) {
    values.emplace_back(beta + std::pow(f(m + s * x), 2), normal_density(x));
  }
  return root_moments(values);
}

TEST(ConvexNoise, HoldsForSingleNeurons) {
  double closest = 0.0;
  for (const F function : {F::Identity, F::Relu, F::LeakyRelu, F::Softplus, F::LogSigmoid, F::Tanhshrink}) {
    const Activation f(function, 0.2);
    for (const double m : {-3.0, -1.0, -0.2, 0.0, 0.5, 2.0, 8.0}) {
      for (const double s : {0.05, 0.4, 1.0, 3.0}) {
        for (const double beta : {0.0, 1e-3, 1.0}) {
          const RootMoments is = neuron_moments(f, m, s, beta);
          if (!std::isfinite(is.variance)) continue;  // all of S is zero
          const double bound = convex_root_deviation(is.variance);
          EXPECT_GE(bound, is.square * (1.0 - 1e-9)) << to_string(function) << " " << m << " " << s;
          EXPECT_GE(is.u4 / 16.0 + std::min(6.0 * bound, 1.0) * bound, is.fourth * (1.0 - 1e-9))
              << to_string(function) << " " << m << " " << s;
          closest = std::max(closest, is.square / bound);
        }
      }
    }
  }
  // Next to exact where S moves little.
  EXPECT_GE(closest, 0.99);
}

TEST(ConvexNoise, HoldsForCorrelatedNeurons) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 31);
    const Index n = 1 + static_cast<Index>(seed % 6);
    const Matrix root = random_matrix(generator, n, n);
    const Vector mean = random_matrix(generator, n, 1);
    const Vector variances = random_matrix(generator, n, 1).cwiseAbs2();
    const Activation f(seed % 2 == 0 ? F::Relu : F::LeakyRelu, 0.3);
    std::vector<std::pair<double, double>> values;
    for (int i = 0; i < 20000; ++i) {
      const Vector a = f.apply(mean + root * random_matrix(generator, n, 1));
      values.emplace_back(1e-3 + variances.dot(a.cwiseAbs2()), 1.0);
    }
    const RootMoments is = root_moments(values);
    // The samples' own law is not that of a convex function; its moments are, up to a few per cent.
    EXPECT_GE(1.05 * convex_root_deviation(is.variance), is.square) << "seed " << seed;
  }
}

/// A tenth of the mass at zero: the root is far more often near zero than that of a convex function.
TEST(ConvexNoise, FailsWithoutConvexity) {
  const RootMoments is = root_moments({{0.0, 0.1}, {1.0, 0.9}});
  EXPECT_LT(convex_root_deviation(is.variance), 0.5 * is.square);
  EXPECT_EQ(convex_root_deviation(2.1), 2.0);
  EXPECT_EQ(convex_root_deviation(INFINITY), 2.0);
  EXPECT_EQ(convex_root_deviation(std::nan("")), 2.0);
  EXPECT_EQ(convex_root_deviation(0.0), 0.0);
}

TEST(ConvexNoise, KnowsWhichActivationsHaveConvexSizes) {
  for (const F function : all_activation_functions()) {
    const Activation f(function, -0.5);
    bool convex = true;
    for (double x = -6.0; x <= 6.0; x += 0.01) {
      const double middle = std::abs(f(x)), ends = std::abs(f(x - 0.01)) + std::abs(f(x + 0.01));
      convex = convex && 2.0 * middle <= ends + 1e-12;
    }
    EXPECT_EQ(has_convex_sizes(f, 3), convex) << to_string(function);
  }
  // Neurons that pass unchanged have a convex size of their own.
  EXPECT_TRUE(has_convex_sizes(ActivationMap(Activation(F::Relu), {true, false}), 2));
  EXPECT_FALSE(has_convex_sizes(ActivationMap(Activation(F::Tanh), {true, false}), 2));
}

Network relu_network(F function, Mask mask) {
  Generator generator = make_generator(3, Stream::Example, 32);
  const auto layer = [&](const char* name, Index out, Index in) {
    return DenseLayer(name, random_matrix(generator, out, in), random_matrix(generator, out, 1),
                      MeanFieldWeights{0.3 * random_matrix(generator, out, in).cwiseAbs2()},
                      IndependentBias{Vector::Constant(out, 1e-3)});
  };
  const Activation f(function);
  return Network({layer("a", 12, 2), layer("b", 12, 12), layer("c", 12, 12), layer("d", 3, 12)},
                 {ActivationMap(), f, f, f}, {Mask(), mask, mask, mask});
}

TEST(ConvexNoise, MakesEveryLayerSmallerAndOnlyWhereItHolds) {
  const Matrix input = Matrix::Ones(2, 1);
  Options moment, sharp;
  moment.method = Method::Moment;
  moment.theorems = TheoremSet::Coupling;
  moment.pieces = sharp.pieces = 1;
  const Network relu = relu_network(F::Relu, Mask());
  const Result plain = certify(relu, input, moment).front(), better = certify(relu, input, sharp).front();
  for (std::size_t k = 0; k < plain.layers.size(); ++k) {
    EXPECT_EQ(plain.layers[k].theorem, "H.3");
    EXPECT_EQ(better.layers[k].theorem, k + 1 < plain.layers.size() ? "Y.27" : better.layers[k].theorem);
    EXPECT_LT(better.layers[k].local, plain.layers[k].local);
  }
  for (const Network& other : {relu_network(F::Tanh, Mask()), relu_network(F::Relu, Mask::bernoulli(0.1))}) {
    const Result result = certify(other, input, sharp).front();
    for (const LayerReport& layer : result.layers) EXPECT_NE(layer.theorem, "Y.27");
  }
}

}  // namespace convex_noise_test
}  // namespace mixcert::testing
