// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sizes for a wanted bound (E.1): when the run says that epsilon is reached the bound is at most
// epsilon; when the budget does not suffice it says so and stays within it; smaller wishes never
// get larger bounds than were asked for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certify/small_networks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace epsilon_test {

Services with_transport() {
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  return services;
}

Network small_network(std::vector<Index> widths, WeightFamily family, std::uint64_t seed) {
  NetworkRecipe recipe;
  recipe.widths = std::move(widths);
  recipe.weights = family;
  recipe.deviation = 0.4;
  recipe.seed = seed;
  return random_network(recipe);
}

Result certify_at(const Network& network, Options options) {
  Generator generator = make_generator(21, Stream::Example);
  const Matrix inputs = random_matrix(generator, network.inputs(), options.joint ? 2 : 1);
  return certify(network, inputs, options, with_transport()).front();
}

/// The bound with one point per component: what an untaught run would give.
double coarse_bound(const Network& network, CertificateMode mode) {
  Options options;
  options.method = Method::Signature;
  options.certificate = mode;
  options.signature_size = 1;
  return certify_at(network, options).w2.value;
}

class EpsilonModes : public ::testing::TestWithParam<CertificateMode> {};

TEST_P(EpsilonModes, ReachedMeansAtMostEpsilon) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const WeightFamily family = seed % 2 == 0 ? WeightFamily::MeanField : WeightFamily::Full;
    const Network network =
        small_network(seed < 3 ? std::vector<Index>{2, 2, 1} : std::vector<Index>{2, 2, 2, 1}, family, seed);
    Options options;
    options.method = Method::Signature;
    options.certificate = GetParam();
    options.max_components = 20000;
    options.epsilon = (seed < 3 ? 0.15 : 0.5) * coarse_bound(network, GetParam());
    const Result result = certify_at(network, options);
    EXPECT_EQ(result.termination, Termination::EpsilonReached) << result.reason;
    EXPECT_LE(result.w2.value, *options.epsilon);
    EXPECT_LE(result.mixture.size(), options.max_components);
  }
}

TEST_P(EpsilonModes, TooSmallABudgetIsReported) {
  const Network network = small_network({2, 4, 4, 1}, WeightFamily::MeanField, 3);
  Options options;
  options.method = Method::Signature;
  options.certificate = GetParam();
  options.max_components = 5;
  options.epsilon = 1e-3;
  const Result result = certify_at(network, options);
  EXPECT_EQ(result.termination, Termination::BudgetSpent);
  EXPECT_NE(result.reason.find("max-components"), std::string::npos) << result.reason;
  EXPECT_GT(result.w2.value, *options.epsilon);
  EXPECT_LE(result.mixture.size(), options.max_components);
}

INSTANTIATE_TEST_SUITE_P(AllModes, EpsilonModes,
                         ::testing::Values(CertificateMode::Best, CertificateMode::Metric,
                                           CertificateMode::Expected, CertificateMode::Paper),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(Epsilon, SmallerWishesTakeMorePoints) {
  const Network network = small_network({2, 3, 1}, WeightFamily::MeanField, 9);
  const double coarse = coarse_bound(network, CertificateMode::Best);
  Index last_points = 0;
  double last_bound = coarse * 2;
  for (const double share : {2.0, 0.8, 0.5, 0.3, 0.2, 0.1}) {
    Options options;
    options.method = Method::Signature;
    options.max_components = 100000;
    options.epsilon = share * coarse;
    const Result result = certify_at(network, options);
    ASSERT_EQ(result.termination, Termination::EpsilonReached) << result.reason;
    EXPECT_LE(result.w2.value, *options.epsilon);
    EXPECT_GE(result.mixture.size(), last_points);
    EXPECT_LE(result.w2.value, last_bound);
    last_points = result.mixture.size();
    last_bound = result.w2.value;
  }
}

/// One neuron, many points: each more point gains so little that slack for rounding decides. A size
/// whose slack was not planned for would miss epsilon although the budget is not spent.
TEST(Epsilon, PlansForRounding) {
  const Network network = network_of({scalar_layer(0.3, 1.0, 0.0, 0.0), scalar_layer(1.0, 0.1, 0.0, 0.0)},
                                     ActivationFunction::Tanh);
  for (int i = 0; i < 12; ++i) {
    Options options;
    options.method = Method::Signature;
    options.max_components = 10000;
    options.epsilon = 0.002 + 1.7e-4 * i;
    const Result result = certify(network, Matrix::Ones(1, 1), options).front();
    EXPECT_EQ(result.termination, Termination::EpsilonReached) << *options.epsilon << ": " << result.reason;
    EXPECT_LE(result.w2.value, *options.epsilon);
  }
}

TEST(Epsilon, JointRunsReachItToo) {
  const Network network = small_network({2, 2, 1}, WeightFamily::MeanField, 5);
  Options options;
  options.method = Method::Signature;
  options.joint = true;
  options.max_components = 20000;
  options.epsilon = 0.3;
  const Result result = certify_at(network, options);
  EXPECT_EQ(result.termination, Termination::EpsilonReached) << result.reason;
  EXPECT_LE(result.w2.value, 0.3);
}

/// Nothing to approximate: any positive epsilon is met with one component.
TEST(Epsilon, DeterministicHiddenLayersNeedOneComponent) {
  const Network network = network_of({scalar_layer(0.3, 0.0, 0.1, 0.0), scalar_layer(1.0, 0.1, 0.0, 0.2)},
                                     ActivationFunction::Tanh);
  Options options;
  options.method = Method::Signature;
  options.epsilon = 1e-6;
  const Result result = certify(network, Matrix::Ones(1, 1), options).front();
  EXPECT_EQ(result.termination, Termination::EpsilonReached) << result.reason;
  EXPECT_EQ(result.mixture.size(), 1);
}

}  // namespace epsilon_test
}  // namespace mixcert::testing
