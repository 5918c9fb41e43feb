// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method with correlated weights and biases in every layer (H.7): against the naive oracle, and
// never below Gelbrich's bound of Monte Carlo samples.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "certify/moment_oracle.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace moment_families_test {

using Families = std::tuple<WeightFamily, BiasFamily>;

class MomentFamilies : public ::testing::TestWithParam<Families> {
 protected:
  static Network network(Index hidden_layers, std::uint64_t seed) {
    const auto [weights, bias] = GetParam();
    NetworkRecipe recipe;
    recipe.widths = {2};
    for (Index k = 0; k < hidden_layers; ++k) recipe.widths.push_back(3 + static_cast<Index>(seed % 3));
    recipe.widths.push_back(1 + static_cast<Index>(seed % 2));
    recipe.weights = weights;
    recipe.bias = bias;
    recipe.deviation = seed % 2 == 0 ? 0.4 : 1.2;
    recipe.activation = seed % 2 == 0 ? ActivationFunction::Tanh : ActivationFunction::Relu;
    recipe.seed = 40 + seed;
    return random_network(recipe);
  }
  static Options options() {
    Options options;
    options.method = Method::Moment;
    options.theorems = TheoremSet::Coupling;
    options.threads = 1;
    return options;
  }
};

TEST_P(MomentFamilies, AgreeWithTheOracle) {
  for (const Index hidden : {Index{1}, Index{2}, Index{3}}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Network tested = network(hidden, seed);
      const Vector input = Vector::Constant(2, 0.6);
      const NaiveMomentCertificate naive = naive_moment_certificate(tested, input);
      const Result result = certify(tested, input, options()).front();
      const double scale = std::sqrt(naive.mean.squaredNorm() + naive.covariance.trace());
      EXPECT_LE((result.mixture.mean() - naive.mean).norm(), 1e-8 * scale);
      EXPECT_LE((result.mixture.covariance() - naive.covariance).norm(), 1e-8 * scale * scale);
      EXPECT_NEAR(result.w2.nominal, naive.w2, 1e-8 * naive.w2 + 1e-10 * scale);
      EXPECT_GE(result.w2.value, result.w2.nominal);
    }
  }
}

TEST_P(MomentFamilies, AreNeverBelowTheLowerBound) {
  SimulationOptions simulation;
  simulation.samples = 20000;
  simulation.threads = 1;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Network tested = network(1 + static_cast<Index>(seed % 2), seed);
    const Vector input = Vector::Constant(2, -0.8);
    const Result result = certify(tested, input, options()).front();
    const Matrix samples = simulate(tested, input, 0, simulation);
    EXPECT_GE(result.w2.value, gelbrich_lower_bound(samples, result.mixture, 1, 0).lower);
    if (samples.rows() == 1) {
      const EmpiricalDistance estimate = empirical_distance(samples, result.mixture, 1, 0);
      EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor);
    }
  }
}

std::vector<Families> possible_families() {
  std::vector<Families> families;
  std::vector<WeightFamily> all = all_weight_families();
  all.push_back(WeightFamily::LowRankWithBias);
  for (const WeightFamily weights : all) {
    for (const BiasFamily bias : all_bias_families()) {
      if (weights == WeightFamily::Joint && bias != BiasFamily::Deterministic) continue;
      families.emplace_back(weights, bias);
    }
  }
  return families;
}

INSTANTIATE_TEST_SUITE_P(All, MomentFamilies, ::testing::ValuesIn(possible_families()),
                         [](const auto& tested) {
                           return to_string(std::get<0>(tested.param)) +
                                  std::to_string(static_cast<int>(std::get<1>(tested.param)));
                         });

TEST(MomentFamiliesJointly, CorrelatedWeightsAreRefusedByName) {
  NetworkRecipe recipe;
  recipe.widths = {2, 4, 1};
  recipe.weights = WeightFamily::Kronecker;
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.joint = true;
  try {
    (void)certify(random_network(recipe), Matrix::Ones(2, 2), options);
    ADD_FAILURE() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("correlated"), std::string::npos) << error.what();
  }
}

}  // namespace moment_families_test
}  // namespace mixcert::testing
