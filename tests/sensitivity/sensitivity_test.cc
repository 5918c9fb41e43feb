// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Chains of metrics: each is feasible by an independent eigenvalue check against the moments of the
// weights written out, equals its closed form, and has little slack for rounding.
#include "sensitivity/sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "mixcert/network/network_builder.h"
#include "mixture/symmetric_eigen.h"
#include "sensitivity/error_norm.h"
#include "support/matchers.h"
#include "support/naive_oracle.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace sensitivity_test {

Network random_case(WeightFamily family, std::uint64_t seed) {
  NetworkRecipe recipe;
  recipe.widths = {3, static_cast<Index>(1 + seed % 6), static_cast<Index>(1 + (seed / 2) % 5), 4,
                   static_cast<Index>(1 + seed % 3)};
  recipe.weights = family;
  recipe.activation = all_activation_functions()[seed % all_activation_functions().size()];
  recipe.deviation = seed % 2 == 0 ? 0.1 : 2.0;
  recipe.seed = seed;
  return random_network(recipe);
}

std::vector<const MetricChain*> all_chains(const Sensitivity& sensitivity) {
  std::vector<const MetricChain*> chains = {&sensitivity.paper, &sensitivity.expected};
  for (const MetricChain& chain : sensitivity.metrics) chains.push_back(&chain);
  return chains;
}

/// inflation_k diag(g_k) >= E[W' G_{k+1} W] with G_{k+1} from the chain's own proven metric.
void expect_feasible(const Network& network, const MetricChain& chain) {
  for (Index k = network.hidden_count(); k >= 1; --k) {
    const auto at = static_cast<std::size_t>(k - 1);
    Vector metric = Vector::Ones(network.outputs());
    if (k < network.hidden_count()) {
      const double l = naive_lipschitz(network.activation(k + 1).common());
      metric = l * l * chain.inflation[at + 1] * chain.activation_weights[at + 1];
    }
    const Matrix a = naive_second_moment_gram(network.layer(k), metric);
    const Matrix gap = Matrix((chain.inflation[at] * chain.activation_weights[at]).asDiagonal()) - a;
    const double smallest = symmetric_eigen(gap).values(0);
    EXPECT_GE(smallest, -1e-14 * a.trace()) << chain.name << ", layer " << k;
  }
}

class SensitivityFamilies : public ::testing::TestWithParam<WeightFamily> {};

TEST_P(SensitivityFamilies, ChainsAreFeasible) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = random_case(GetParam(), seed);
    const Sensitivity sensitivity = analyse_sensitivity(network);
    for (const MetricChain* chain : all_chains(sensitivity)) expect_feasible(network, *chain);
  }
}

TEST_P(SensitivityFamilies, ChainsEqualTheirClosedForms) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = random_case(GetParam(), seed);
    const Sensitivity sensitivity = analyse_sensitivity(network);
    for (const MetricChain* chain : all_chains(sensitivity)) {
      const std::vector<Vector> naive = naive_chain(network, chain->name);
      ASSERT_EQ(chain->activation_weights.size(), naive.size());
      for (std::size_t k = 0; k < naive.size(); ++k) {
        EXPECT_TRUE(is_close(Matrix(chain->activation_weights[k]), Matrix(naive[k]), 1e-10)) << chain->name;
      }
    }
  }
}

TEST_P(SensitivityFamilies, SlackForRoundingIsSmall) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Sensitivity sensitivity = analyse_sensitivity(random_case(GetParam(), seed));
    for (const MetricChain* chain : all_chains(sensitivity)) {
      for (const double inflation : chain->inflation) {
        EXPECT_GE(inflation, 1.0);
        EXPECT_LE(inflation, 1.0 + 1e-10) << chain->name;
      }
    }
  }
}

/// The scalar chain never exceeds the paper's (M.6), and `metrics` begins with it (M.5).
TEST_P(SensitivityFamilies, ExpectedNeverExceedsPaper) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = random_case(GetParam(), seed);
    const Sensitivity sensitivity = analyse_sensitivity(network);
    ASSERT_FALSE(sensitivity.metrics.empty());
    EXPECT_EQ(sensitivity.metrics.front().name, "expected");
    for (std::size_t k = 0; k < sensitivity.lipschitz.size(); ++k) {
      EXPECT_LE(sensitivity.expected.activation_weights[k].maxCoeff(),
                sensitivity.paper.activation_weights[k].minCoeff() * (1.0 + 1e-12));
      EXPECT_EQ(sensitivity.metrics.front().activation_weights[k],
                sensitivity.expected.activation_weights[k]);
      EXPECT_TRUE(is_close(sensitivity.lipschitz[k].nominal,
                           naive_lipschitz(network.activation(static_cast<Index>(k) + 1).common()), 1e-14));
      EXPECT_LT(sensitivity.reference[k], sensitivity.metrics.size());
    }
  }
}

/// m^{1/2} times the norm of the kernel's noise, m = 9 of a 3 x 3 window (M.6).
TEST(PaperConstants, ConvolutionsCountHowOftenAnInputOccurs) {
  Generator generator = make_generator(4, Stream::Example, 4102);
  const LayerShape shape{2, {4, 4}, true};
  const Conv2dSpec last = same_convolution(generator, shape, true, "last");
  const Network network = build_network({same_convolution(generator, shape, true),
                                         activation_spec(ActivationFunction::Relu), last, FlattenSpec{}});
  const Sensitivity sensitivity = analyse_sensitivity(network);
  const Matrix& mean = network.layer(1).weight_mean();
  const double norm = std::sqrt(symmetric_eigen(mean.transpose() * mean).values.maxCoeff());
  const double noise = std::sqrt(9.0 * last.kernel_variance.sum());
  EXPECT_NEAR(sensitivity.paper.activation_weights[0](0), std::pow(norm + noise, 2),
              1e-9 * std::pow(norm + noise, 2));
  EXPECT_LT(noise, std::sqrt(network.layer(1).total_weight_variance()));
  // E|W - M|^2 of drawn kernels, written out by hand.
  double mean_square = 0.0;
  for (int draw = 0; draw < 100; ++draw) {
    const Vector kernel = random_matrix(generator, last.kernel_variance.size(), 1)
                              .cwiseProduct(last.kernel_variance.cwiseSqrt());
    Matrix noisy = Matrix::Zero(shape.size(), shape.size());
    for (Index c = 0; c < 2; ++c)
      for (Index d = 0; d < 2; ++d)
        for (Index y = 0; y < 4; ++y)
          for (Index x = 0; x < 4; ++x)
            for (Index u = std::max<Index>(0, 1 - y); u < std::min<Index>(3, 5 - y); ++u)
              for (Index v = std::max<Index>(0, 1 - x); v < std::min<Index>(3, 5 - x); ++v)
                noisy(c * 16 + y * 4 + x, d * 16 + (y + u - 1) * 4 + x + v - 1) =
                    kernel(((c * 2 + d) * 3 + u) * 3 + v);
    mean_square += symmetric_eigen(noisy.transpose() * noisy).values.maxCoeff() / 100.0;
  }
  EXPECT_LT(mean_square, noise * noise);
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, SensitivityFamilies, ::testing::ValuesIn(all_weight_families()),
                         [](const auto& tested) { return to_string(tested.param); });

/// The roundings of a Gram matrix of many factors are counted: exact feasibility at high rank.
TEST(Sensitivity, ManyFactorsAreStillFeasible) {
  Generator generator = make_generator(8, Stream::Example);
  LowRankWeights law{Matrix::Zero(1, 2), {}};
  for (int s = 0; s < 3000; ++s) law.factor.push_back(random_matrix(generator, 1, 2));
  Eigen::Matrix<long double, 2, 2> exact = Eigen::Matrix<long double, 2, 2>::Zero();
  for (const Matrix& factor : law.factor) {
    const Eigen::Matrix<long double, 1, 2> row = factor.cast<long double>();
    exact += row.transpose() * row;
  }
  std::vector<DenseLayer> layers;
  layers.emplace_back("0", Matrix::Ones(2, 1), Vector::Ones(2), MeanFieldWeights{Matrix::Ones(2, 1)},
                      DeterministicBias{});
  layers.emplace_back("1", Matrix::Zero(1, 2), Vector::Ones(1), std::move(law), DeterministicBias{});
  const Network network(std::move(layers), {Activation(), Activation(ActivationFunction::Relu)});
  const Sensitivity sensitivity = analyse_sensitivity(network);
  for (const MetricChain& chain : sensitivity.metrics) {
    Eigen::Matrix<long double, 2, 2> gap = -exact;
    for (Index i = 0; i < 2; ++i) {
      gap(i, i) += static_cast<long double>(chain.inflation[0]) * chain.activation_weights[0](i);
    }
    const long double determinant = gap(0, 0) * gap(1, 1) - gap(0, 1) * gap(1, 0);
    EXPECT_GE(gap(0, 0), 0.0L);
    EXPECT_GE(determinant, 0.0L) << chain.name;
    // (M.4) asks for one gamma per rounding: sums over 3000 factors round 3000 times.
    EXPECT_GE(chain.inflation[0], 1.0 + 3000 * kUnitRoundoff) << chain.name;
  }
}

/// Slopes of values that pass do not stray: their diagonal is what underflow is guarded by, 1e-290, and grows
/// from layer to layer. No form may be multiplied by that.
TEST(ErrorNorms, ValuesThatPassDoNotInflateTheOthers) {
  Generator generator = make_generator(7, Stream::Example, 3040);
  const auto dense = [&](const std::string& name) {
    return DenseSpec{random_layer(generator, {WeightFamily::MeanField, BiasFamily::Independent, 3, 3}, name)};
  };
  // What is added at the end passes every activation.
  ResidualSpec block;
  for (int k = 0; k < 8; ++k) {
    block.layers.push_back(activation_spec(ActivationFunction::Relu));
    block.layers.push_back(dense("d" + std::to_string(k)));
  }
  const std::vector<LayerSpec> layers = {dense("first"), block};
  const Network network = build_network(layers);
  const std::vector<ErrorNorm> norms = make_error_norms(network, SensitivityMode::Closed).front();
  double least = norms.front().gain();
  for (const ErrorNorm& norm : norms) least = std::min(least, norm.gain());
  for (const ErrorNorm& norm : norms) EXPECT_LE(norm.gain(), 1e3 * least) << norm.name;
}

}  // namespace sensitivity_test
}  // namespace mixcert::testing
