// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers from the computed law of one output (U.20), against brute force: Gil-Pelaez inversion of a
// characteristic function by Simpson's rule, and laws that are known.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "core/normal.h"
#include "mixcert/answer/answers.h"
#include "mixcert/answer/statement.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "theorems/output_law_oracle.h"

namespace mixcert::testing {
namespace computed_law_test {

/// What the brute force may be off by: its own truncation and quadrature.
constexpr double kOracleError = 3e-8;

std::vector<double> places() {
  std::vector<double> all;
  for (double place = -6.0; place <= 6.0; place += 0.37) all.push_back(place);
  return all;
}

/// N(mean, deviation^2) as a computed law.
std::shared_ptr<const OutputDistribution> normal_law(double mean, double deviation, double moved) {
  auto law = std::make_shared<OutputDistribution>();
  const Index half = 52;
  law->cell = deviation / 8.0;
  law->first = mean - law->cell * static_cast<double>(half);
  law->values.resize(2 * half + 1);
  law->density.resize(2 * half + 1);
  for (Index i = -half; i <= half; ++i) {
    const double place = static_cast<double>(i) / 8.0;
    law->values(i + half) = normal_cdf(place);
    law->density(i + half) = normal_density(place) / deviation;
  }
  law->error = 4e-7;
  law->moved = moved;
  return law;
}

GaussianMixture one_normal(double mean, double deviation) {
  return GaussianMixture(
      Gaussian{Vector::Constant(1, mean), Covariance::diagonal(Vector::Constant(1, deviation * deviation))});
}

/// Random networks, degenerate ones among them: how many have a law, and how narrow it is.
TEST(ComputedLaw, HoldsTheTruthOfRandomNetworks) {
  Index computed = 0, narrow = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const LineNetwork net = seed % 2 == 0 ? random_line_network(seed) : random_trained_line(seed);
    const Result result = certify_line(net);
    if (!result.distribution) continue;
    const CertifiedLine line = coordinate(CertifiedLaw(result), 0);
    const double mean = result.mixture.mean()(0), deviation = result.mixture.standard_deviation()(0);
    const std::vector<double> truths = naive_probabilities(net, mean, deviation, places());
    if (truths.empty()) continue;
    ++computed;
    double widest = 0.0;
    for (std::size_t i = 0; i < truths.size(); ++i) {
      const Interval known = line.below(mean + places()[i] * deviation);
      EXPECT_LE(known.lower, truths[i] + kOracleError) << places()[i];
      EXPECT_GE(known.upper, truths[i] - kOracleError) << places()[i];
      widest = std::max(widest, known.width());
    }
    if (widest < 1e-4) ++narrow;
  }
  std::printf("%d laws computed, %d to 1e-4\n", static_cast<int>(computed), static_cast<int>(narrow));
  EXPECT_GE(computed, 40);
  EXPECT_GE(2 * narrow, computed);
}

TEST(ComputedLaw, MakesAnswersNarrower) {
  for (std::uint64_t seed = 1; seed < 30; seed += 2) {
    SCOPED_TRACE(seed);
    const LineNetwork net = random_trained_line(seed);
    const Result result = certify_line(net);
    if (!result.distribution) continue;
    const CertifiedLaw law(result), without(result.mixture, result.w2.value, result.w1.value);
    const double mean = result.mixture.mean()(0), deviation = result.mixture.standard_deviation()(0);
    const std::vector<double> truth = naive_probabilities(net, mean, deviation, {-1.0, 1.5});
    if (truth.empty()) continue;
    const double low = mean - deviation, high = mean + 1.5 * deviation;
    const ProbabilityAnswer above = probability_above(coordinate(law, 0), low);
    EXPECT_TRUE(above.is_computed);
    EXPECT_LT(above.interval.width(), 0.5 * probability_above(coordinate(without, 0), low).interval.width());
    EXPECT_NEAR(above.interval.estimate, 1.0 - truth[0], above.interval.width() + kOracleError);
    EXPECT_FALSE(probability_above(coordinate(without, 0), low).is_computed);
    const Interval between = probability_between(coordinate(law, 0), low, high).interval;
    EXPECT_LE(between.lower, truth[1] - truth[0] + 2.0 * kOracleError);
    EXPECT_GE(between.upper, truth[1] - truth[0] - 2.0 * kOracleError);
    const CredibleInterval credible = credible_interval(coordinate(law, 0), 0.95);
    const std::vector<double> held = naive_probabilities(
        net, mean, deviation, {(credible.lower - mean) / deviation, (credible.upper - mean) / deviation});
    EXPECT_GE(held[1] - held[0], 0.95 - 2.0 * kOracleError);
    EXPECT_LE(held[1] - held[0], 0.96);
    const CredibleInterval wider = credible_interval(coordinate(without, 0), 0.95);
    EXPECT_LE(credible.upper - credible.lower, wider.upper - wider.lower);
  }
}

/// A law that is only near the computed one: normal laws that are moved or stretched by that much.
TEST(ComputedLaw, HoldsEveryLawWithinTheDistance) {
  for (const double moved : {0.0, 1e-14, 1e-6, 1e-3, 0.05}) {
    SCOPED_TRACE(moved);
    const CertifiedLine line(LineMixture(Vector::Ones(1), Vector::Zero(1), Vector::Ones(1)), 0.5, 0.5,
                             normal_law(0.0, 1.0, moved), 1.0);
    for (const double place : places()) {
      const Interval known = line.below(place);
      for (const double shift : {-moved, 0.0, moved}) {
        const double truth = normal_cdf(place - shift), stretched = normal_cdf(place / (1.0 + shift));
        EXPECT_LE(known.lower, std::min(truth, stretched) + 1e-15);
        EXPECT_GE(known.upper, std::max(truth, stretched) - 1e-15);
      }
      // The distance is moved^{2/3} in probability: it must not be more than a few of them.
      EXPECT_LE(known.width(), 1e-6 + 4.0 * std::cbrt(moved * moved));
    }
  }
}

TEST(ComputedLaw, ScalesAndTurnsWithTheDirection) {
  const CertifiedLaw law(one_normal(1.0, 2.0), 0.5, 0.5, normal_law(1.0, 2.0, 1e-12));
  const auto ask = [&](const std::string& text) {
    return probability(law, parse_statement(text, {1, 1})).interval;
  };
  const double truth = normal_tail(0.25);
  for (const char* text : {"y0 > 1.5", "2*y0 > 3", "-y0 < -1.5", "-0.5*y0 < -0.75", "y0 - 1 > 0.5"}) {
    SCOPED_TRACE(text);
    EXPECT_NEAR(ask(text).estimate, truth, 1e-6);
    EXPECT_LE(ask(text).lower, truth);
    EXPECT_GE(ask(text).upper, truth);
    EXPECT_LT(ask(text).width(), 1e-5);
  }
  EXPECT_NEAR(ask("y0 < 1.5").estimate, 1.0 - truth, 1e-6);
  EXPECT_NEAR(ask("-1 < 2*y0 < 3").estimate, normal_cdf(0.25) - normal_cdf(-0.75), 1e-6);
}

TEST(ComputedLaw, EndsAndNoiseAreTheirOwn) {
  const CertifiedLaw law(one_normal(0.0, 1.0), 0.1, 0.1, normal_law(0.0, 1.0, 0.0));
  const CertifiedLine line = coordinate(law, 0);
  EXPECT_EQ(line.below(-kInfinity).upper, 0.0);
  EXPECT_EQ(line.below(kInfinity).lower, 1.0);
  // Beyond the nodes only their end is known.
  EXPECT_EQ(line.below(-40.0).lower, 0.0);
  EXPECT_LT(line.below(-40.0).upper, 1e-6);
  EXPECT_GT(line.below(40.0).lower, 1.0 - 1e-6);
  EXPECT_EQ(line.below(40.0).upper, 1.0);
  EXPECT_EQ(line.below(std::nan("")).width(), 1.0);
  EXPECT_FALSE(line.with_noise(0.1).has_distribution());
  EXPECT_TRUE(line.with_noise(0.0).has_distribution());
  EXPECT_THROW(CertifiedLaw(GaussianMixture(Gaussian{Vector::Zero(2), Covariance::diagonal(Vector::Ones(2))}),
                            0.1, 0.1, normal_law(0.0, 1.0, 0.0)),
               InvalidArgument);
}

TEST(ComputedLaw, BelongsToOneHiddenLayerAlone) {
  LineNetwork net = random_trained_line(1);
  Options options;
  options.components = 1;
  EXPECT_EQ(certify(net.network(), Vector::Ones(1), options).front().distribution, nullptr);
  options = {};
  options.theorems = TheoremSet::Coupling;
  options.method = Method::Moment;
  EXPECT_EQ(certify(net.network(), Vector::Ones(1), options).front().distribution, nullptr);
}

TEST(Normality, OfMixturesThatAreKnown) {
  const LineMixture normal(Vector::Ones(1), Vector::Constant(1, 3.0), Vector::Constant(1, 2.0));
  EXPECT_NEAR(normality(normal).skewness, 0.0, 1e-12);
  EXPECT_NEAR(normality(normal).excess_kurtosis, 0.0, 1e-12);
  EXPECT_NEAR(normality(normal).gaussian_distance, 0.0, 1e-9);
  // Two points, 3:1: skewness (1 - 2p)/(p (1-p))^{1/2}, kurtosis 1/(p (1-p)) - 3 - 3.
  const double p = 0.25;
  Vector weights(2), means(2);
  weights << 1.0 - p, p;
  means << 0.0, 1.0;
  const Normality points = normality(LineMixture(weights, means, Vector::Zero(2)));
  EXPECT_NEAR(points.skewness, (1.0 - 2.0 * p) / std::sqrt(p * (1.0 - p)), 1e-9);
  EXPECT_NEAR(points.excess_kurtosis, 1.0 / (p * (1.0 - p)) - 6.0, 1e-9);
  EXPECT_GT(points.gaussian_distance, 0.3);
  EXPECT_EQ(normality(LineMixture(Vector::Ones(1), Vector::Ones(1), Vector::Zero(1))).skewness, 0.0);
}

}  // namespace computed_law_test
}  // namespace mixcert::testing
