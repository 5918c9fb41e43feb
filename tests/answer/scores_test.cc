// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sampled means (U.10), Lipschitz functions and softmax (U.11 - U.13): against laws whose expectation is
// known, against laws that lie at the given distance, and the inequalities between gradients at random
// points.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "answer/dual_bounds.h"
#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace scores_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Matrix bernoulli(double mean, Index samples, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example);
  return Matrix::NullaryExpr(1, samples, [&] { return uniform(generator) < mean ? 1.0 : 0.0; });
}

TEST(SampledMean, MissesNoMoreOftenThanSaid) {
  for (const double mean : {0.5, 0.1, 0.003}) {
    int missed = 0;
    double width = 0.0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      const Interval interval = sampled_means(bernoulli(mean, 400, seed), 0.05).front();
      EXPECT_LE(interval.lower, interval.estimate);
      EXPECT_GE(interval.upper, interval.estimate);
      if (!interval.contains(mean)) ++missed;
      width += interval.width() / 1000.0;
    }
    EXPECT_LE(missed, 50) << mean;
    EXPECT_LT(width, 8.0 * std::sqrt(mean * (1.0 - mean) / 400.0) + 0.02) << mean;
  }
}

TEST(SampledMean, NarrowWhereValuesHardlyVary) {
  Generator generator = make_generator(1, Stream::Example);
  const Matrix values = Matrix::NullaryExpr(2, 100000, [&] { return 0.4 + 1e-3 * uniform(generator); });
  for (const Interval& interval : sampled_means(values, 1e-9)) {
    EXPECT_TRUE(interval.contains(0.4005));
    EXPECT_LT(interval.width(), 1.5e-3);
  }
}

TEST(SampledMean, ConstantsAndEnds) {
  Matrix values = Matrix::Zero(2, 100000);
  values.row(1).setOnes();
  const std::vector<Interval> means = sampled_means(values, 1e-9);
  EXPECT_EQ(means[0].lower, 0.0);
  // log(1/failure)/n: failure spread over two functions, two sides, two bounds.
  EXPECT_NEAR(means[0].upper, std::log(8e9) / 1e5, 1e-7);
  EXPECT_EQ(means[1].upper, 1.0);
  EXPECT_NEAR(means[1].lower, 1.0 - means[0].upper, 1e-12);
}

TEST(SampledMean, RefusesWhatIsNotInUnitInterval) {
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 5, 1.5), 0.1), InvalidArgument);
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 5, std::nan("")), 0.1), InvalidArgument);
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 1, 0.5), 0.1), InvalidArgument);
  EXPECT_THROW(sampled_means(Matrix::Constant(1, 5, 0.5), 0.0), InvalidArgument);
}

Vector softmax(const Vector& logits) {
  const Vector raised = (logits.array() - logits.maxCoeff()).exp();
  return raised / raised.sum();
}

/// Gradient of softmax_c: row c of diag(f) - f f'.
Vector softmax_gradient(const Vector& f, Index c) { return f(c) * (Vector::Unit(f.size(), c) - f); }

TEST(Softmax, LogOddsHaveTheLipschitzConstant) {
  Generator generator = make_generator(3, Stream::Example);
  double largest = 0.0;
  double largest_of_difference = 0.0;
  for (int trial = 0; trial < 200000; ++trial) {
    const auto classes = static_cast<Index>(2 + generator() % 5);
    const Vector f = softmax(std::exp(4.0 * uniform(generator) - 2.0) * random_matrix(generator, classes, 1));
    const double odds = softmax_gradient(f, 0).norm() / (f(0) * (f.sum() - f(0)));
    const double half = 0.5 * (1.0 + f(0) - f(1));
    const double difference =
        0.5 * (softmax_gradient(f, 0) - softmax_gradient(f, 1)).norm() / (half * (1.0 - half));
    if (1.0 - f(0) > 1e-6 && f(0) > 1e-9) largest = std::max(largest, odds);
    if (half > 1e-6 && 1.0 - half > 1e-6) largest_of_difference = std::max(largest_of_difference, difference);
  }
  EXPECT_LE(largest, std::sqrt(2.0) * (1.0 + 1e-8));
  EXPECT_LE(largest_of_difference, std::sqrt(2.0) * (1.0 + 1e-8));
  EXPECT_GE(largest, std::sqrt(2.0) * (1.0 - 1e-8));
  EXPECT_GE(largest_of_difference, std::sqrt(2.0) * (1.0 - 1e-8));
}

double logistic(double v) { return 1.0 / (1.0 + std::exp(-v)); }

TEST(SigmoidEnvelope, IsTheLeastValue) {
  Generator generator = make_generator(4, Stream::Example);
  for (int trial = 0; trial < 300; ++trial) {
    const double u = 60.0 * uniform(generator) - 15.0;
    const double kappa = std::exp2(20.0 * uniform(generator) - 12.0);
    const double reach = std::min(1.0 / (8.0 * kappa), 200.0);
    double least = kInfinity;
    for (int step = 0; step <= 20000; ++step) {
      const double away = reach * step / 20000.0;
      least = std::min(least, logistic(u - away) + kappa * away * away);
    }
    EXPECT_LE(sigmoid_envelope(u, kappa), least) << u << " " << kappa;
    EXPECT_GE(sigmoid_envelope(u, kappa), least - 2e-5) << u << " " << kappa;
  }
}

TEST(SigmoidEnvelope, TableIsBelowAndClose) {
  Generator generator = make_generator(5, Stream::Example);
  for (const Index k : {0, 40, 76, 120, 192}) {
    const EnvelopeTable& table = EnvelopeTable::at(k);
    EXPECT_EQ(table.kappa(), EnvelopeTable::kappa_of(k));
    double mean_gap = 0.0;
    for (int trial = 0; trial < 3000; ++trial) {
      const double u = 128.0 * uniform(generator) - 24.0;
      const double exact = sigmoid_envelope(u, table.kappa());
      EXPECT_LE(table.lower(u), exact + 1e-12) << u << " " << k;
      mean_gap += (exact - table.lower(u)) / 3000.0;
    }
    EXPECT_LT(mean_gap, 1e-6);
    EXPECT_EQ(table.lower(-kInfinity), 0.0);
    EXPECT_LE(table.lower(kInfinity), 1.0);
    EXPECT_EQ(table.lower(kInfinity), table.lower(1e6));
  }
}

GaussianMixture gaussian(const Vector& mean, double deviation) {
  const Index n = mean.size();
  return GaussianMixture(Gaussian{mean, Covariance::diagonal(Vector::Constant(n, deviation * deviation))});
}

/// Means of softmax over samples of a law, and five standard errors.
struct MonteCarlo {
  Matrix probabilities;  // classes x samples

  explicit MonteCarlo(const Matrix& logits) : probabilities(logits.rows(), logits.cols()) {
    for (Index s = 0; s < logits.cols(); ++s) probabilities.col(s) = softmax(logits.col(s));
  }
  void expect_within(const ClassAnswer& answer) const {
    for (Index c = 0; c < probabilities.rows(); ++c) {
      expect(answer.probabilities[static_cast<std::size_t>(c)], probabilities.row(c));
      expect(answer.margins[static_cast<std::size_t>(c)],
             probabilities.row(answer.predicted) - probabilities.row(c));
    }
  }
  static void expect(const Interval& interval, const Eigen::RowVectorXd& values) {
    const double mean = values.mean();
    const double error =
        5.0 * std::sqrt((values.array() - mean).square().mean() / static_cast<double>(values.size()));
    EXPECT_GE(mean + error + 1e-12, interval.lower);
    EXPECT_LE(mean - error - 1e-12, interval.upper);
  }
};

constexpr IntegrationOptions kFew{20000, 1e-9, 7};

TEST(ClassAnswer, HoldsForShiftedLaws) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 2);
    const auto classes = static_cast<Index>(2 + seed % 4);
    const GaussianMixture q = random_mixture(generator, 1 + static_cast<Index>(seed % 3), classes);
    const Vector shift = std::exp2(-static_cast<double>(seed % 5)) * random_matrix(generator, classes, 1);
    const CertifiedLaw law(q, shift.norm(), shift.norm());
    const Matrix samples = sample_mixture(q, 20000, 99, Stream::Example, seed).colwise() + shift;
    MonteCarlo(samples).expect_within(class_answer(law, kFew, seed));
  }
}

/// All mass at one point; the worst law moves a share d of it by D towards another class, eps^2 = d D^2.
TEST(ClassAnswer, IsSharpAtAPoint) {
  for (const double margin : {2.0, 6.0, 12.0}) {
    for (const double eps : {0.02, 0.5, 1.5}) {
      const Vector mean = (Vector(2) << margin, 0.0).finished();
      const ClassAnswer answer =
          class_answer(CertifiedLaw(gaussian(mean, 1e-9), eps, eps), {100000, 1e-9, 0});
      double worst = logistic(margin);
      for (double distance = eps; distance < 40.0; distance *= 1.001) {
        const double share = eps * eps / (distance * distance);
        worst = std::min(
            worst, (1.0 - share) * logistic(margin) + share * logistic(margin - std::sqrt(2.0) * distance));
      }
      EXPECT_LE(answer.probabilities[0].lower, worst);
      EXPECT_GE(answer.probabilities[0].lower, worst - 0.001 - 0.06 * (logistic(margin) - worst))
          << margin << " " << eps;
      EXPECT_NEAR(answer.margins[1].lower, 2.0 * answer.probabilities[0].lower - 1.0, 2e-3);
      EXPECT_EQ(answer.settled, answer.margins[1].lower > 0.0);
    }
  }
}

TEST(ClassAnswer, ConfidentLawsBeatTheLipschitzConstant) {
  const Vector mean = (Vector(4) << 9.0, 0.0, -1.0, 1.0).finished();
  const ClassAnswer answer = class_answer(CertifiedLaw(gaussian(mean, 0.3), 1.5, 1.5), kFew);
  EXPECT_EQ(answer.predicted, 0);
  EXPECT_TRUE(answer.settled);
  // sqrt 2/4 * 1.5 is 0.53.
  EXPECT_GT(answer.probabilities[0].lower, 0.9);
}

TEST(ClassAnswer, ExactLawAndNoBound) {
  const Vector mean = (Vector(3) << 0.5, 0.0, -0.5).finished();
  const ClassAnswer exact = class_answer(CertifiedLaw(gaussian(mean, 1.0), 0.0, 0.0), {100000, 1e-9, 0});
  for (const Interval& one : exact.probabilities) {
    EXPECT_LT(one.width(), 0.015);
    EXPECT_TRUE(one.contains(one.estimate));
  }
  EXPECT_TRUE(exact.settled);
  const ClassAnswer none = class_answer(CertifiedLaw(gaussian(mean, 1.0), std::nan(""), std::nan("")), kFew);
  EXPECT_FALSE(none.settled);
  EXPECT_EQ(none.probabilities[0].lower, 0.0);
  EXPECT_EQ(none.probabilities[0].upper, 1.0);
}

TEST(ClassAnswer, RefusesOneClassAndTooMuch) {
  EXPECT_THROW(class_answer(CertifiedLaw(gaussian(Vector::Zero(1), 1.0), 0.1, 0.1), kFew), InvalidArgument);
  EXPECT_THROW(class_answer(CertifiedLaw(gaussian(Vector::Zero(3), 1.0), 0.1, 0.1), {100'000'000, 1e-9, 0}),
               ResourceError);
}

TEST(LipschitzExpectation, HoldsForAShiftedLaw) {
  const CertifiedLaw law(gaussian(Vector::Zero(2), 1.0), 0.5, 0.25);
  const Interval given = lipschitz_expectation(law, {1.0, 0.9, 1.1}, 2.0);
  EXPECT_NEAR(given.lower, 0.4, 1e-12);
  EXPECT_NEAR(given.upper, 1.6, 1e-12);
  const auto wave = [](ConstVectorRef y) { return std::sin(y(0)); };
  const Interval sampled = lipschitz_expectation(law, wave, -1.0, 1.0, 1.0, {100000, 1e-9, 1});
  // E sin(z + 1/4) = sin(1/4) e^(-1/2) for standard normal z.
  EXPECT_TRUE(sampled.contains(std::sin(0.25) * std::exp(-0.5)));
  EXPECT_TRUE(sampled.contains(0.0));
  EXPECT_LT(sampled.width(), 0.6);
  EXPECT_THROW(lipschitz_expectation(law, wave, 0.0, 1.0, 1.0, {100, 1e-9, 1}), InvalidArgument);
  EXPECT_THROW(lipschitz_expectation(law, {0.0, 0.0, 0.0}, -1.0), InvalidArgument);
}

}  // namespace scores_test
}  // namespace mixcert::testing
