// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Ensembles: the combination of members' results against (B.1) in fifty digits, exact cases, Monte Carlo from
// below, epsilon, order and threads.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "certify/small_networks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "support/high_precision.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace ensemble_test {

Network random_member(std::uint64_t seed, std::vector<Index> widths,
                      WeightFamily family = WeightFamily::MeanField) {
  NetworkRecipe recipe;
  recipe.widths = std::move(widths);
  recipe.weights = family;
  recipe.seed = seed;
  return random_network(recipe);
}

/// Members of different depths and families.
Ensemble mixed_ensemble() {
  return {{random_member(1, {3, 9, 7, 2}), random_member(2, {3, 8, 2}, WeightFamily::Kronecker),
           random_member(3, {3, 2}, WeightFamily::LowRank)},
          Vector{{0.2, 0.5, 0.3}}};
}

Matrix some_inputs(Index count) {
  Generator generator = make_generator(71, Stream::Example);
  return random_matrix(generator, 3, count);
}

void expect_identical(const Result& a, const Result& b) {
  EXPECT_EQ(a.input, b.input);
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.w2.value, b.w2.value);
  EXPECT_EQ(a.w1.value, b.w1.value);
  EXPECT_EQ(a.relative_w2, b.relative_w2);
  EXPECT_EQ(a.reason, b.reason);
  ASSERT_EQ(a.mixture.size(), b.mixture.size());
  EXPECT_EQ(a.mixture.weights(), b.mixture.weights());
  for (Index i = 0; i < a.mixture.size(); ++i) {
    EXPECT_EQ(a.mixture.component(i).mean, b.mixture.component(i).mean);
    EXPECT_EQ(a.mixture.component(i).covariance.to_dense(), b.mixture.component(i).covariance.to_dense());
  }
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t k = 0; k < a.layers.size(); ++k) {
    EXPECT_EQ(a.layers[k].compression, b.layers[k].compression);
    EXPECT_EQ(a.layers[k].local, b.layers[k].local);
  }
}

struct Case {
  std::string name;
  Method method;
  Index pieces = 1;
  bool joint = false;
};

class EnsembleCases : public ::testing::TestWithParam<Case> {
 protected:
  EnsembleCases() {
    options_.method = GetParam().method;
    options_.pieces = GetParam().pieces;
    options_.joint = GetParam().joint;
    options_.threads = 1;
  }
  Options options_;
  Matrix inputs_ = some_inputs(2);
};

TEST_P(EnsembleCases, CombineTheMembersResults) {
  const Ensemble ensemble = mixed_ensemble();
  const std::vector<Result> combined = certify(ensemble, inputs_, options_);
  std::vector<std::vector<Result>> members;
  for (Index i = 0; i < 3; ++i) members.push_back(certify(ensemble.member(i), inputs_, options_));
  ASSERT_EQ(combined.size(), members[0].size());
  for (std::size_t n = 0; n < combined.size(); ++n) {
    Precise square = 0;
    Precise w1 = 0;
    Index next = 0;
    Precise compression = 0;
    Precise local = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Result& member = members[i][n];
      const double weight = ensemble.weights()(static_cast<Index>(i));
      square += Precise(weight) * member.w2.value * member.w2.value;
      w1 += Precise(weight) * member.w1.value;
      for (Index j = 0; j < member.mixture.size(); ++j, ++next) {
        EXPECT_NEAR(combined[n].mixture.weights()(next), weight * member.mixture.weights()(j), 1e-14);
        EXPECT_EQ(combined[n].mixture.component(next).mean, member.mixture.component(j).mean);
      }
      if (member.layers.empty()) continue;
      compression += Precise(weight) * member.layers[0].compression * member.layers[0].compression;
      local += Precise(weight) * member.layers[0].local * member.layers[0].local;
    }
    EXPECT_EQ(next, combined[n].mixture.size());
    const double room = 1e-6 * std::sqrt(combined[n].mixture.covariance().trace());
    EXPECT_GE(Precise(combined[n].w2.value), sqrt(square));
    EXPECT_LE(Precise(combined[n].w2.value), sqrt(square) * (1 + 1e-12) + room);
    EXPECT_GE(Precise(combined[n].w1.value), w1);
    EXPECT_LE(Precise(combined[n].w1.value), w1 * (1 + 1e-12) + room);
    ASSERT_EQ(combined[n].layers.size(), 2U);
    EXPECT_NEAR(combined[n].layers[0].compression, static_cast<double>(sqrt(compression)), 1e-12);
    EXPECT_NEAR(combined[n].layers[0].local, static_cast<double>(sqrt(local)), 1e-12 * combined[n].w2.value);
    EXPECT_EQ(combined[n].input, static_cast<Index>(n));
  }
}

TEST_P(EnsembleCases, AreAboveMonteCarloFromBelow) {
  const Ensemble ensemble = mixed_ensemble();
  const std::vector<Result> results = certify(ensemble, inputs_, options_);
  for (std::size_t n = 0; n < results.size(); ++n) {
    const SimulationOptions simulation{20000, 5, 1, nullptr};
    const auto index = static_cast<Index>(n);
    const Matrix samples = options_.joint ? simulate_joint(ensemble, inputs_, simulation)
                                          : simulate(ensemble, inputs_.col(index), index, simulation);
    EXPECT_LE(gelbrich_lower_bound(samples, results[n].mixture, 5, n).lower, results[n].w2.value);
  }
}

TEST_P(EnsembleCases, DoNotDependOnThreadsOrRepetition) {
  const Ensemble ensemble = mixed_ensemble();
  const Matrix inputs = some_inputs(GetParam().joint ? 2 : 9);
  const std::vector<Result> alone = certify(ensemble, inputs, options_);
  options_.threads = 3;
  const std::vector<Result> together = certify(ensemble, inputs, options_);
  ASSERT_EQ(alone.size(), together.size());
  for (std::size_t i = 0; i < alone.size(); ++i) expect_identical(alone[i], together[i]);
}

TEST_P(EnsembleCases, OfOneMemberAreItsNetwork) {
  const Network network = random_member(1, {3, 9, 7, 2});
  const std::vector<Result> direct = certify(network, inputs_, options_);
  const std::vector<Result> wrapped = certify(Ensemble(network), inputs_, options_);
  ASSERT_EQ(direct.size(), wrapped.size());
  for (std::size_t i = 0; i < direct.size(); ++i) expect_identical(direct[i], wrapped[i]);
}

INSTANTIATE_TEST_SUITE_P(All, EnsembleCases,
                         ::testing::Values(Case{"Auto", Method::Auto}, Case{"Split", Method::Moment, 6},
                                           Case{"Signature", Method::Signature},
                                           Case{"JointSignature", Method::Signature, 1, true}),
                         [](const auto& tested) { return tested.param.name; });

TEST(Ensembles, OfDeterministicNetworksAreExact) {
  const auto member = [](double slope) {
    return network_of({scalar_layer(slope, 0.0, 0.5, 0.0), scalar_layer(2.0, 0.0, -1.0, 0.0)},
                      ActivationFunction::Relu);
  };
  const Ensemble ensemble({member(1.0), member(3.0)}, Vector{{0.25, 0.75}});
  const Result result = certify(ensemble, Matrix::Constant(1, 1, 2.0), Options()).front();
  ASSERT_EQ(result.mixture.size(), 2);
  EXPECT_NEAR(result.mixture.component(0).mean(0), 4.0, 1e-12);
  EXPECT_NEAR(result.mixture.component(1).mean(0), 12.0, 1e-12);
  EXPECT_EQ(result.mixture.weights(), ensemble.weights());
  EXPECT_LE(result.w2.value, 1e-10);
  EXPECT_GT(result.w2.value, 0.0) << "rounding is part of the bound";
}

TEST(Ensembles, OfOneLayerAreMixturesOfGaussians) {
  const Ensemble ensemble({network_of({scalar_layer(1.0, 0.25, 0.0, 0.0)}, ActivationFunction::Relu),
                           network_of({scalar_layer(-1.0, 1.0, 0.0, 0.0)}, ActivationFunction::Relu)},
                          Vector{{0.5, 0.5}});
  const Result result = certify(ensemble, Matrix::Constant(1, 1, 2.0), Options()).front();
  EXPECT_LE(result.w2.value, 1e-12);
  EXPECT_NEAR(result.mixture.mean()(0), 0.0, 1e-14);
  EXPECT_NEAR(result.mixture.covariance()(0, 0), 0.5 * (1.0 + 4.0) + 4.0, 1e-12);
  EXPECT_TRUE(result.layers.empty());
}

TEST(Ensembles, MeetEpsilonOrSayWhichMemberDidNot) {
  const Ensemble ensemble = mixed_ensemble();
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.epsilon = 100.0;
  const Result easy = certify(ensemble, some_inputs(1), options).front();
  EXPECT_EQ(easy.termination, Termination::EpsilonReached);
  EXPECT_LE(easy.w2.value, 100.0);
  options.epsilon = 1e-7;
  options.max_components = 4;
  const Result hard = certify(ensemble, some_inputs(1), options).front();
  EXPECT_EQ(hard.termination, Termination::BudgetSpent);
  EXPECT_NE(hard.reason.find("network 0 of the ensemble: "), std::string::npos) << hard.reason;
}

TEST(Ensembles, WithoutABoundSaySo) {
  Options options;
  options.method = Method::Cross;
  const Result result = certify(mixed_ensemble(), some_inputs(1), options).front();
  EXPECT_FALSE(result.w2.exists());
  EXPECT_FALSE(result.w1.exists());
  EXPECT_EQ(result.reason, "method cross carries no bound");
  EXPECT_EQ(result.termination, Termination::Completed);
}

TEST(Ensembles, StatisticsBracketTheDistance) {
  const Ensemble ensemble({random_member(1, {3, 9, 7, 2}), random_member(4, {3, 8, 2})}, Vector{{0.4, 0.6}});
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.statistics = 4000;
  Services services;
  EXPECT_THROW((void)certify(ensemble, some_inputs(1), options, services), InvalidArgument);
  services.ensemble_statistics = ensemble_statistics_service();
  services.statistics = statistics_service();
  const Result result = certify(ensemble, some_inputs(1), options, services).front();
  ASSERT_TRUE(result.statistics.has_value());
  EXPECT_LE(result.statistics->w2_lower_statistical, result.statistics->w2_upper_statistical);
  EXPECT_LE(result.statistics->coupled_cost, result.statistics->w2_upper_statistical);
  EXPECT_LE(result.statistics->coupled_cost, result.w2.value);
  // The cost of the mixture of couplings is the weighted mean of the members' costs, estimated apart here.
  double square = 0.0;
  for (Index i = 0; i < 2; ++i) {
    const Result member = certify(ensemble.member(i), some_inputs(1), options, services).front();
    square += ensemble.weights()(i) * std::pow(member.statistics->coupled_cost, 2);
  }
  EXPECT_NEAR(result.statistics->coupled_cost, std::sqrt(square), 0.1 * std::sqrt(square));
  options.theorems = TheoremSet::All;
  options.method = Method::Signature;
  const Result grid = certify(ensemble, some_inputs(1), options, services).front();
  EXPECT_TRUE(std::isnan(grid.statistics->w2_upper_statistical));
  EXPECT_LE(grid.statistics->w2_lower_statistical, grid.w2.value);
}

TEST(Ensembles, RefuseWrongInputs) {
  EXPECT_THROW((void)certify(mixed_ensemble(), Matrix::Zero(4, 1), Options()), InvalidArgument);
  EXPECT_THROW((void)certify(mixed_ensemble(), Matrix::Constant(3, 1, NAN), Options()), InvalidArgument);
}

}  // namespace ensemble_test
}  // namespace mixcert::testing
