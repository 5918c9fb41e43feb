// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Predictive law and scores (U.14 - U.19): against integrals, against laws moved by a known distance, against
// sums done by hand, and random networks against Monte Carlo.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "answer/answer_oracle.h"
#include "answer/network_answers.h"
#include "mixcert/core/error.h"

namespace mixcert::testing {
namespace score_cases_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// y ~ N(mean, deviation^2) in each output, independent.
CertifiedLaw normal_law(const Vector& mean, double deviation, double eps) {
  const Vector variances = Vector::Constant(mean.size(), deviation * deviation);
  return {GaussianMixture(Gaussian{mean, Covariance::diagonal(variances)}), eps, eps};
}

LineMixture moved(const LineMixture& line, double shift) {
  return {line.weights(), line.means().array() + shift, line.deviations()};
}

AnswerOptions with_noise(double noise) {
  AnswerOptions options;
  options.noise_std = noise;
  return options;
}

AnswerOptions with_head(NoiseHead head) {
  AnswerOptions options;
  options.head = head;
  return options;
}

TEST(Predictive, ConstantNoiseAddsUp) {
  const PredictiveMoments answer =
      predictive_moments(normal_law(Vector::Ones(2), 0.5, 0.1), with_noise(2.0)).at(1);
  EXPECT_NEAR(answer.mean.lower, 0.9, 1e-9);
  EXPECT_NEAR(answer.epistemic.lower, 0.16, 1e-9);
  EXPECT_NEAR(answer.epistemic.upper, 0.36, 1e-9);
  EXPECT_TRUE(answer.aleatoric.contains(4.0));
  EXPECT_LT(answer.aleatoric.width(), 1e-14);
  EXPECT_NEAR(answer.total.upper, 4.36, 1e-9);
}

double softplus(double x) { return std::log1p(std::exp(x)); }

/// p is q moved by (a, b): its variances are integrals over the line.
TEST(Predictive, SoftplusHeadHoldsForMovedLaws) {
  const Vector mean = (Vector(2) << 0.3, -0.5).finished();
  for (const double eps : {0.0, 0.1, 1.0}) {
    const PredictiveMoments answer =
        predictive_moments(normal_law(mean, 0.7, eps), with_head(NoiseHead::Softplus)).at(0);
    for (const double angle : {0.0, 1.0, 2.0, 4.0}) {
      const double raw = mean(1) + eps * std::sin(angle);
      const LineRule rule(LineMixture(Vector::Ones(1), Vector::Constant(1, raw), Vector::Constant(1, 0.7)));
      const double aleatoric = rule.expectation([](double r) { return softplus(r) * softplus(r); });
      EXPECT_LE(answer.aleatoric.lower, aleatoric + 1e-9);
      EXPECT_GE(answer.aleatoric.upper, aleatoric - 1e-9);
      EXPECT_LE(answer.total.lower, aleatoric + 0.49 + 1e-9);
      EXPECT_GE(answer.total.upper, aleatoric + 0.49 - 1e-9);
    }
    EXPECT_LT(answer.total.width(), answer.epistemic.width() + answer.aleatoric.width() + 1e-12);
    if (eps == 0.0) {
      EXPECT_LT(answer.total.width(), 1e-8);
    }
  }
}

TEST(Predictive, LogVarianceHeadHasALowerEnd) {
  const Vector mean = (Vector(2) << 0.3, -0.5).finished();
  for (const double eps : {0.0, 0.1, 1.0, 5.0}) {
    const PredictiveMoments answer =
        predictive_moments(normal_law(mean, 0.7, eps), with_head(NoiseHead::LogVariance)).at(0);
    const double variance = std::exp(-0.5 + 0.245);
    EXPECT_NEAR(answer.aleatoric.estimate, variance, 1e-12);
    // The law moved down by eps.
    EXPECT_LE(answer.aleatoric.lower, variance * std::exp(-eps));
    EXPECT_GE(answer.aleatoric.lower, 0.99 * std::exp(-0.5 - eps));
    EXPECT_GT(answer.aleatoric.lower, 0.0);
    EXPECT_EQ(answer.aleatoric.upper, kInfinity);
    EXPECT_EQ(answer.total.upper, kInfinity);
    if (eps == 0.0) {
      EXPECT_NEAR(answer.aleatoric.lower, variance, 1e-9);
    }
  }
  EXPECT_THROW(predictive_moments(normal_law(Vector::Zero(3), 1.0, 0.1), with_head(NoiseHead::LogVariance)),
               InvalidArgument);
}

TEST(Predictive, DensityAgreesWithIntegralsAndHoldsForMovedLaws) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 5);
    const LineMixture line = random_line(generator, 1 + static_cast<Index>(seed % 3));
    const double noise = 0.1 + uniform(generator);
    const double label = 3.0 * uniform(generator) - 1.0;
    for (const double eps : {0.0, 0.01, 0.3, 3.0}) {
      const Interval nll = negative_log_density(CertifiedLine(line, eps, eps), noise, label);
      for (const double shift : {-eps, 0.0, 0.5 * eps, eps}) {
        const double density = LineRule(moved(line, shift)).expectation([&](double m) {
          return std::exp(-0.5 * (m - label) * (m - label) / (noise * noise));
        });
        const double exact = std::log(noise * std::sqrt(2.0 * std::numbers::pi)) - std::log(density);
        if (exact > 20.0) continue;  // out of the rule's reach
        EXPECT_LE(nll.lower, exact + 1e-8);
        EXPECT_GE(nll.upper, exact - 1e-8);
        if (shift == 0.0) {
          EXPECT_NEAR(nll.estimate, exact, 1e-8);
        }
      }
      EXPECT_LT(nll.upper, kInfinity);
      if (eps == 0.0) {
        EXPECT_LT(nll.width(), 1e-9);
      }
    }
  }
}

/// Far labels, narrow laws, no noise to speak of: nothing overflows, ends stay ordered.
TEST(Predictive, DensityAtExtremes) {
  const LineMixture atom(Vector::Ones(1), Vector::Zero(1), Vector::Zero(1));
  for (const double label : {0.0, 1.0, 100.0, 1e6}) {
    for (const double eps : {0.0, 1e-8, 1.0, 1e8}) {
      const Interval nll = negative_log_density(CertifiedLine(atom, eps, eps), 0.1, label);
      const double exact = 0.5 * label * label / 0.01 + std::log(0.1 * std::sqrt(2.0 * std::numbers::pi));
      EXPECT_LE(nll.lower, exact);
      EXPECT_GE(nll.upper, exact);
      EXPECT_LT(nll.upper, kInfinity);
      if (eps == 0.0) {
        EXPECT_LT(nll.width(), 1e-9 + 1e-11 * exact);
      }
    }
    const Interval none = negative_log_density(CertifiedLine(atom, std::nan(""), std::nan("")), 0.1, label);
    EXPECT_EQ(none.upper, kInfinity);
    EXPECT_NEAR(none.lower, std::log(0.1 * std::sqrt(2.0 * std::numbers::pi)), 1e-12);
  }
  EXPECT_THROW(negative_log_density(CertifiedLine(atom, 0.1, 0.1), 0.0, 0.0), InvalidArgument);
  EXPECT_THROW(negative_log_density(CertifiedLine(atom, 0.1, 0.1), 1.0, kInfinity), InvalidArgument);
}

/// The integral of (F - 1{x >= label})^2 by midpoints; the grid has the label between two cells.
double naive_crps(const LineMixture& line, double label) {
  constexpr double kStep = 1e-3;
  double sum = 0.0;
  for (int i = 0; i < 15000; ++i) {
    const double away = (i + 0.5) * kStep;
    sum += kStep * (std::pow(line.cdf(label - away), 2) + std::pow(line.tail(label + away), 2));
  }
  return sum;
}

TEST(Crps, AgreesWithIntegralsAndHoldsForMovedLaws) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 6);
    const LineMixture line = random_line(generator, 1 + static_cast<Index>(seed));
    const double label = 3.0 * uniform(generator) - 1.0;
    for (const double noise : {0.0, 0.5}) {
      EXPECT_NEAR(certified_crps(CertifiedLine(line, 0.0, 0.0).with_noise(noise), noise, label).estimate,
                  naive_crps(line.with_noise(noise), label), 1e-6);
      for (const double eps : {0.0, 0.05, 1.0}) {
        const Interval crps = certified_crps(CertifiedLine(line, eps, eps).with_noise(noise), noise, label);
        for (const double shift : {-eps, eps}) {
          const double exact = naive_crps(moved(line, shift).with_noise(noise), label);
          EXPECT_LE(crps.lower, exact + 1e-6);
          EXPECT_GE(crps.upper, exact - 1e-6);
        }
        EXPECT_LE(crps.width(), 4.0 * eps + 1e-10);
      }
    }
  }
}

/// An atom: CRPS is the distance, and a law within eps may be an atom elsewhere.
TEST(Crps, Atoms) {
  const LineMixture atom(Vector::Ones(1), Vector::Zero(1), Vector::Zero(1));
  const Interval crps = certified_crps(CertifiedLine(atom, 0.25, 0.25), 0.0, 2.0);
  EXPECT_EQ(crps.estimate, 2.0);
  EXPECT_NEAR(crps.lower, 1.5, 1e-12);
  EXPECT_NEAR(crps.upper, 2.5, 1e-12);
  EXPECT_NEAR(certified_crps(CertifiedLine(atom, 0.25, 0.25), 0.0, 0.0).upper, 0.25, 1e-12);
  EXPECT_EQ(certified_crps(CertifiedLine(atom, std::nan(""), std::nan("")), 0.0, 2.0).upper, kInfinity);
}

TEST(RegressionScores, SumsByHand) {
  RegressionScores scores(0.5, {0.5});
  const AnswerOptions options = with_noise(1.0);
  for (const double label : {1.0, -3.0}) {
    scores.add(score_regression(normal_law(Vector::Zero(1), 1e-6, 0.5), Vector::Constant(1, label), options));
  }
  const RegressionSummary summary = scores.summary();
  EXPECT_EQ(summary.points, 2);
  EXPECT_NEAR(summary.rmse.estimate, std::sqrt(5.0), 1e-9);
  EXPECT_NEAR(summary.rmse.lower, std::sqrt((0.25 + 6.25) / 2.0), 1e-9);
  EXPECT_NEAR(summary.rmse.upper, std::sqrt((2.25 + 12.25) / 2.0), 1e-9);
  EXPECT_NEAR(summary.nll.estimate, 0.5 * std::log(2.0 * std::numbers::pi) + 2.5, 1e-9);
  // |1| is beyond the quartile 0.67 and may come within it; |-3| may not.
  ASSERT_EQ(summary.coverage.size(), 1U);
  EXPECT_EQ(summary.coverage[0].share.estimate, 0.0);
  EXPECT_EQ(summary.coverage[0].share.lower, 0.0);
  EXPECT_NEAR(summary.coverage[0].share.upper, 0.5, 1e-12);
}

TEST(RegressionScores, CoverageOfAGoodModel) {
  RegressionScores scores;
  Generator generator = make_generator(1, Stream::Example, 7);
  for (int i = 0; i < 500; ++i) {
    const Vector label = std::sqrt(1.25) * random_matrix(generator, 1, 1);
    scores.add(score_regression(normal_law(Vector::Zero(1), 0.5, 0.01), label, with_noise(1.0)));
  }
  for (const Coverage& row : scores.summary().coverage) {
    EXPECT_NEAR(row.share.estimate, row.level, 0.1);
    EXPECT_LE(row.share.lower, row.share.estimate);
    EXPECT_GE(row.share.upper, row.share.estimate);
    EXPECT_LT(row.share.width(), 0.05);
  }
}

TEST(RegressionScores, WithoutNoiseAndWithHeads) {
  const Vector mean = (Vector(2) << 0.0, 1.0).finished();
  const RegressionPoint plain = score_regression(normal_law(mean, 1.0, 0.1), mean, {});
  EXPECT_EQ(plain.targets.size(), 2U);
  EXPECT_NEAR(plain.targets[0].nll.estimate, 0.5 * std::log(2.0 * std::numbers::pi), 1e-12);
  EXPECT_EQ(plain.targets[0].nll.upper, kInfinity);
  EXPECT_LT(plain.targets[0].pit.width(), 0.5);
  const RegressionPoint head =
      score_regression(normal_law(mean, 0.1, 0.1), Vector::Zero(1), with_head(NoiseHead::Softplus));
  ASSERT_EQ(head.targets.size(), 1U);
  EXPECT_NEAR(head.targets[0].nll.estimate, 0.5 * std::log(2.0 * std::numbers::pi) + std::log(softplus(1.0)),
              0.05);
  EXPECT_EQ(head.targets[0].pit.lower, 0.0);
  EXPECT_LT(head.square_error.upper, 0.02);
  EXPECT_THROW(score_regression(normal_law(mean, 1.0, 0.1), Vector::Zero(3), {}), InvalidArgument);
  EXPECT_THROW(score_regression(normal_law(mean, 1.0, 0.1), Vector::Constant(2, kInfinity), {}),
               InvalidArgument);
}

TEST(ClassScores, SumsByHand) {
  const Vector mean = (Vector(3) << 8.0, 0.0, 0.0).finished();
  const CertifiedLaw near = normal_law(mean, 0.1, 0.5);
  const CertifiedLaw far = normal_law(mean, 0.1, 50.0);
  ClassScores scores;
  for (const Index label : {0, 1}) {
    scores.add(score_class(near, class_answer(near, {2000, 1e-9, 0}), label));
    scores.add(score_class(far, class_answer(far, {2000, 1e-9, 0}), label));
  }
  const ClassSummary summary = scores.summary();
  EXPECT_EQ(summary.points, 4);
  EXPECT_EQ(summary.settled, 2);
  EXPECT_EQ(summary.correct_and_settled, 1);
  EXPECT_EQ(summary.accuracy.estimate, 0.5);
  EXPECT_NEAR(summary.accuracy.lower, 0.25, 1e-12);
  EXPECT_NEAR(summary.accuracy.upper, 0.75, 1e-12);
  EXPECT_NEAR(summary.nll.estimate, 4.0, 0.05);
  EXPECT_LT(summary.nll.upper, 60.0);
  EXPECT_NEAR(summary.brier.estimate, 1.0, 0.01);
  EXPECT_LE(summary.brier.upper, 2.0);
  EXPECT_NEAR(summary.calibration_error, 0.5, 0.01);
  EXPECT_THROW(score_class(near, class_answer(near, {100, 1e-9, 0}), 3), InvalidArgument);
}

TEST(AnswerOptions, TableAndChecks) {
  AnswerOptions options;
  EXPECT_NO_THROW(options.validate());
  options.level = 1.0;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.level = 0.9;
  options.noise_std = std::nan("");
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.noise_std = 0.1;
  EXPECT_NO_THROW(options.validate());
  options.head = NoiseHead::Softplus;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

TEST(NetworkAnswers, HoldForRandomNetworks) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    NetworkRecipe recipe;
    recipe.seed = seed;
    recipe.deviation = 0.1 + 0.1 * static_cast<double>(seed);
    const NetworkAnswers answers(recipe, 20000);
    answers.check_classes();
    answers.check_scores(0.3);
  }
}

}  // namespace score_cases_test
}  // namespace mixcert::testing
