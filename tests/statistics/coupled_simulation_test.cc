// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Both sides of the coupled simulation have the laws they should have; its cost lies between Gelbrich's lower
// bound and the certificate. Planned traces force every branch: splits, compression with a plan that is no
// map, deterministic and wide layers.
#include "statistics/coupled_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/normal.h"
#include "methods/compression.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/sample_statistics.h"
#include "support/random_network.h"

namespace mixcert {
namespace coupled_simulation_test {

using testing::kSigmas;

constexpr Index kSamples = 20000;
constexpr double kFailure = 1e-6;

struct CoupledCase {
  const char* name;
  testing::NetworkRecipe recipe;
  Index pieces = 1;   ///< of the first component of each hidden layer
  Index kept = 1000;  ///< components after compression
};

Network network_of(const CoupledCase& tested) { return testing::random_network(tested.recipe); }

Vector input_of(const Network& network) { return Vector::LinSpaced(network.inputs(), -0.7, 0.9); }

/// Splits the first component along its first neuron and compresses to `kept` components.
MomentTrace planned_trace(const CoupledCase& tested, const Network& network) {
  const MomentPlanner planner = [&](Index layer, const GaussianMixture& mixture) {
    MomentChoices choices;
    if (tested.kept < mixture.size()) {
      choices.reduction = compress(mixture, tested.kept, Vector::Ones(mixture.dimension()), 0);
    }
    const GaussianMixture& reduced = choices.reduction.is_empty() ? mixture : choices.reduction->after;
    if (tested.pieces == 1) return choices;
    choices.splits.resize(static_cast<std::size_t>(reduced.size()));
    const Gaussian& first = reduced.component(0);
    const Index j = layer % first.dimension();
    const double deviation = std::sqrt(first.covariance.variances()(j));
    if (!(deviation > 0.0)) return choices;
    for (const SplitRule& rule : split_rules()) {
      if (rule.size() != tested.pieces || rule.width > 0.75) continue;
      // A little less than all of it, so that rounding leaves it a part of the component.
      const Vector unit = Vector::Unit(first.dimension(), j) * (1.0 - 1e-14);
      choices.splits[0] = {{first.covariance.times(unit) / deviation, &rule}};
      break;
    }
    return choices;
  };
  return *propagate_moments(network, input_of(network), planner, {});
}

// sqrt(n) times Kolmogorov's distance exceeds this once in 1e5.
constexpr double kMostKolmogorov = 2.5;

/// sqrt(n) sup |F_n - F| of output l against the mixture's marginal.
double kolmogorov(const Matrix& samples, const GaussianMixture& mixture, Index l) {
  std::vector<double> values(samples.row(l).begin(), samples.row(l).end());
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0.0;
  for (std::size_t s = 0; s < values.size(); ++s) {
    double cdf = 0.0;
    for (Index i = 0; i < mixture.size(); ++i) {
      const Gaussian& component = mixture.component(i);
      cdf += mixture.weights()(i) *
             normal_cdf((values[s] - component.mean(l)) / std::sqrt(component.covariance.variances()(l)));
    }
    distance = std::max(distance, std::abs(cdf - (static_cast<double>(s) + 0.5) / n));
  }
  return std::sqrt(n) * distance;
}

class CoupledSimulation : public ::testing::TestWithParam<CoupledCase> {
 protected:
  CoupledSimulation() : network_(network_of(GetParam())), trace_(planned_trace(GetParam(), network_)) {
    options_.samples = kSamples;
    samples_ = simulate_coupled(network_, input_of(network_), 3, trace_, options_);
  }

  Network network_;
  MomentTrace trace_;
  SimulationOptions options_;
  CoupledSamples samples_;
};

TEST_P(CoupledSimulation, SurrogateHasTheMixturesMoments) {
  EXPECT_LE(testing::moment_z(samples_.surrogate, trace_.output.mean(), trace_.output.covariance()), kSigmas);
}

TEST_P(CoupledSimulation, SurrogateHasTheMixturesQuantiles) {
  for (Index l = 0; l < network_.outputs(); ++l) {
    EXPECT_LE(kolmogorov(samples_.surrogate, trace_.output, l), kMostKolmogorov) << "output " << l;
  }
}

TEST_P(CoupledSimulation, NetworkSideIsTheNetwork) {
  const Matrix alone = simulate(network_, input_of(network_), 8, options_);
  EXPECT_LE(testing::two_sample_z(samples_.network, alone), kSigmas);
}

TEST_P(CoupledSimulation, UpperIsNotBelowLower) {
  const double lower = gelbrich_lower_bound(samples_.network, trace_.output, 0, 0).lower;
  const CoupledDistance distance = coupled_distance(samples_, kFailure);
  EXPECT_GE(distance.w2_upper_statistical, lower);
  EXPECT_GE(distance.square.upper, distance.square.mean);
}

TEST_P(CoupledSimulation, DependsOnSeedAndInputAloneAndNotOnThreads) {
  SimulationOptions few = options_;
  few.samples = 450;
  few.threads = 1;
  const CoupledSamples one = simulate_coupled(network_, input_of(network_), 3, trace_, few);
  few.threads = 3;
  const CoupledSamples three = simulate_coupled(network_, input_of(network_), 3, trace_, few);
  EXPECT_EQ(one.network, three.network);
  EXPECT_EQ(one.surrogate, three.surrogate);
  const CoupledSamples other = simulate_coupled(network_, input_of(network_), 4, trace_, few);
  EXPECT_NE(one.network, other.network);
}

testing::NetworkRecipe recipe(std::vector<Index> widths, ActivationFunction activation,
                              testing::WeightFamily weights, double deviation) {
  testing::NetworkRecipe result;
  result.widths = std::move(widths);
  result.activation = activation;
  result.weights = weights;
  result.deviation = deviation;
  return result;
}

constexpr auto kMeanField = testing::WeightFamily::MeanField;
constexpr auto kDeterministic = testing::WeightFamily::Deterministic;
using Function = ActivationFunction;

INSTANTIATE_TEST_SUITE_P(
    Networks, CoupledSimulation,
    ::testing::Values(
        CoupledCase{"OneLayer", recipe({2, 8, 1}, Function::Tanh, kMeanField, 0.5)},
        CoupledCase{"OneLayerSplit", recipe({2, 6, 1}, Function::Relu, kMeanField, 1.0), 5},
        CoupledCase{"TwoLayers", recipe({2, 8, 6, 2}, Function::Relu, kMeanField, 0.7)},
        CoupledCase{"TwoLayersSplit", recipe({2, 5, 6, 1}, Function::Tanh, kMeanField, 1.0), 3},
        CoupledCase{"TwoLayersCompressed", recipe({2, 5, 6, 1}, Function::Relu, kMeanField, 1.0), 5, 2},
        CoupledCase{"ThreeLayersCompressed", recipe({2, 4, 5, 3, 2}, Function::Gelu, kMeanField, 1.5), 4, 3},
        CoupledCase{"ToOneComponent", recipe({2, 4, 5, 3, 2}, Function::Sigmoid, kMeanField, 2.0), 5, 1},
        CoupledCase{"DeterministicWeights", recipe({2, 3, 8, 2}, Function::Relu, kDeterministic, 1.0), 4, 2},
        CoupledCase{"SingleNeurons", recipe({1, 1, 1, 1}, Function::Relu, kMeanField, 1.0), 3, 2}),
    [](const auto& test) { return test.param.name; });

/// y = relu(b), b ~ N(0,1), and its pieces merged into one Gaussian: a compression that left samples where
/// they are, with the same two moments, would be far from it.
TEST(CoupledCompression, MovesSamplesToTheMergedLaw) {
  const auto layer = [](const char* name, double weight, double variance) {
    return DenseLayer(name, Matrix::Constant(1, 1, weight), Vector::Zero(1), DeterministicWeights{},
                      IndependentBias{Vector::Constant(1, variance)});
  };
  const Network network(
      {layer("0", 0.0, 1.0), layer("1", 1.0, 0.0), layer("2", 1.0, 1e-4)},
      {Activation(Function::Identity), Activation(Function::Relu), Activation(Function::Identity)});
  CoupledCase tested{"", {}, 5, 1};
  const MomentTrace trace = planned_trace(tested, network);
  ASSERT_GT(trace.layers[1].before.size(), 1);
  ASSERT_EQ(trace.layers[1].after.size(), 1);
  SimulationOptions options;
  options.samples = kSamples;
  const CoupledSamples samples = simulate_coupled(network, input_of(network), 0, trace, options);
  EXPECT_LE(kolmogorov(samples.surrogate, trace.output, 0), kMostKolmogorov);
  EXPECT_LE(testing::moment_z(samples.surrogate, trace.output.mean(), trace.output.covariance()), kSigmas);
}

TEST(CoupledSimulationArguments, AreChecked) {
  const Network network = network_of({"", recipe({2, 4, 1}, Function::Relu, kMeanField, 1.0)});
  EXPECT_THROW(simulate_coupled(network, Vector::Ones(2), 0, MomentTrace{}, {}), InvalidArgument);
}

/// Through certify(): lower <= upper statistical, and the coupling's cost is not above the certificate, whose
/// couplings it follows.
TEST(TwoSidedStatistics, BracketTheDistance) {
  Index positive = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    testing::NetworkRecipe tested = recipe({2, 6, 5, 2}, seed % 2 == 0 ? Function::Relu : Function::Tanh,
                                           kMeanField, 0.2 + 0.4 * static_cast<double>(seed % 8));
    if (seed % 3 == 0) tested.widths = {2, 7, 1};
    tested.seed = seed;
    const Network network = testing::random_network(tested);
    Options options;
    options.method = Method::Moment;
    options.theorems = TheoremSet::Coupling;
    options.pieces = seed % 4 == 0 ? 16 : 1;
    options.statistics = 10000;
    options.threads = 1;
    Services services;
    CoupledDistance coupled;
    services.statistics = [&](const Network& net, ConstMatrixRef inputs, Index index,
                              const CouplingTrace& trace, const GaussianMixture& mixture,
                              const Options& chosen) {
      coupled = coupled_distance(simulate_coupled(net, inputs.col(0), index, *trace.moment,
                                                  {chosen.statistics, chosen.seed, 1, nullptr}),
                                 kFailure);
      return two_sided_statistics(net, inputs, index, trace, mixture, chosen);
    };
    const Result result = certify(network, input_of(network), options, services).front();
    ASSERT_TRUE(result.statistics);
    EXPECT_EQ(result.statistics->w2_upper_statistical, coupled.w2_upper_statistical);
    EXPECT_LE(result.statistics->w2_lower_statistical, result.statistics->w2_upper_statistical)
        << "seed " << seed;
    EXPECT_LE(coupled.square.mean - kSigmas * coupled.square.standard_error,
              result.w2.value * result.w2.value)
        << "seed " << seed;
    positive += result.statistics->w2_lower_statistical > 0.0 ? 1 : 0;
  }
  EXPECT_GE(positive, 1);
}

TEST(TwoSidedStatistics, SignaturesHaveNoUpperBound) {
  const Network network = network_of({"", recipe({2, 4, 1}, Function::Relu, kMeanField, 1.0)});
  Options options;
  options.method = Method::Signature;
  options.statistics = 500;
  Services services;
  services.statistics = statistics_service();
  const Result result = certify(network, input_of(network), options, services).front();
  ASSERT_TRUE(result.statistics);
  EXPECT_TRUE(std::isnan(result.statistics->w2_upper_statistical));
  EXPECT_EQ(result.statistics->samples, 500);
  EXPECT_THROW(certify(network, input_of(network), options), InvalidArgument);
}

}  // namespace coupled_simulation_test
}  // namespace mixcert
