// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers on the line and moments: against second formulas, against laws that attain the bounds, and at
// extremes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "answer/answer_oracle.h"
#include "core/normal.h"
#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace answer_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LineMixture normal_line(double mean, double deviation) {
  return {Vector::Ones(1), Vector::Constant(1, mean), Vector::Constant(1, deviation)};
}

CertifiedLaw random_law(std::uint64_t seed, Index components, Index dimension, double eps) {
  Generator generator = make_generator(seed, Stream::Example);
  return {random_mixture(generator, components, dimension), eps, eps};
}

TEST(LineMixture, AgreesWithIntegrals) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 1);
    const LineMixture line = random_line(generator, 1 + static_cast<Index>(seed % 4));
    const LineRule rule(line);
    const double mean = rule.expectation([](double y) { return y; });
    EXPECT_NEAR(line.mean(), mean, 1e-9);
    EXPECT_NEAR(line.deviation(),
                std::sqrt(rule.expectation([&](double y) { return (y - mean) * (y - mean); })), 1e-9);
    EXPECT_TRUE(line.mean_range().contains(line.mean()));
    EXPECT_TRUE(line.deviation_range().contains(line.deviation()));
    EXPECT_LT(line.deviation_range().width(), 1e-12);
    for (const double x : {-3.0, 0.1, 2.0}) {
      EXPECT_NEAR(line.tail(x), rule.expectation([&](double y) { return y > x ? 1.0 : 0.0; }), 5e-3);
      EXPECT_NEAR(line.tail(x) + line.cdf(x), 1.0, 1e-14);
      EXPECT_NEAR(line.mass(x, x + 1.0), line.tail(x) - line.tail(x + 1.0), 1e-14);
      EXPECT_NEAR(line.density(x), (line.cdf(x + 1e-5) - line.cdf(x - 1e-5)) / 2e-5, 1e-6);
    }
    for (const double p : {1e-12, 0.025, 0.5, 0.9}) EXPECT_NEAR(line.cdf(line.quantile(p)) / p, 1.0, 1e-9);
    EXPECT_NEAR(line.tail(line.quantile(1.0 - 1e-9)), 1e-9, 1e-15);
  }
}

TEST(LineMixture, Atoms) {
  const LineMixture line((Vector(2) << 0.25, 0.75).finished(), (Vector(2) << 1.0, 3.0).finished(),
                         Vector::Zero(2));
  EXPECT_EQ(line.cdf(1.0), 0.25);
  EXPECT_EQ(line.tail(3.0), 0.0);
  EXPECT_EQ(line.tail(2.0), 0.75);
  EXPECT_EQ(line.mass(1.0, 4.0), 0.75);
  EXPECT_EQ(line.quantile(0.2), 1.0);
  EXPECT_EQ(line.quantile(0.5), 3.0);
  EXPECT_EQ(normal_line(2.0, 0.0).deviation_range().upper, 0.0);
  EXPECT_THROW(LineMixture(Vector::Ones(1), Vector::Ones(1), -Vector::Ones(1)), InvalidArgument);
  EXPECT_THROW(LineMixture(Vector::Ones(2), Vector::Ones(2), Vector::Ones(2)), InvalidArgument);
}

TEST(CertifiedLine, ProjectsEveryStructure) {
  Generator generator = make_generator(3, Stream::Example);
  const Index n = 6;
  const Matrix block = random_covariance(generator, 2);
  Matrix stacked(n, 2);
  stacked << block, 2.0 * block, 0.5 * block;
  const Covariance structured =
      Covariance::block_diagonal(stacked).plus_low_rank(random_matrix(generator, n, 2));
  for (const Covariance& covariance :
       {structured, Covariance::dense(structured.to_dense()), Covariance::diagonal(structured.variances())}) {
    const Vector mean = random_matrix(generator, n, 1);
    const CertifiedLaw law(GaussianMixture(Gaussian{mean, covariance}), 0.5, 0.25);
    for (int repeat = 0; repeat < 5; ++repeat) {
      Vector direction = random_matrix(generator, n, 1);
      if (repeat > 2) direction.head(3).setZero();
      const CertifiedLine line = project(law, direction);
      const double variance = direction.dot(covariance.to_dense() * direction);
      EXPECT_NEAR(line.mixture().means()(0), direction.dot(mean), 1e-13);
      EXPECT_NEAR(line.mixture().deviations()(0), std::sqrt(variance), 1e-13);
      EXPECT_GE(line.w2(), 0.5 * direction.norm());
      EXPECT_NEAR(line.w2(), 0.5 * direction.norm(), 1e-11);
      EXPECT_NEAR(line.w1(), 0.25 * direction.norm(), 1e-11);
      const CertifiedLine noisy = line.with_noise(3.0);
      EXPECT_NEAR(noisy.mixture().deviations()(0), std::sqrt(variance + 9.0), 1e-13);
      EXPECT_NEAR(noisy.w2(), line.w2(), 1e-12);
    }
  }
}

TEST(CertifiedLine, CountsCancellation) {
  // Var(y0 - y1) is 1e-18 of what it is computed from: the bound must not vanish.
  Matrix covariance = Matrix::Ones(2, 2);
  covariance(1, 1) = 1.0 + 4e-16;
  const CertifiedLaw law(GaussianMixture(Gaussian{Vector::Zero(2), Covariance::dense(covariance)}), 0.0, 0.0);
  const CertifiedLine line = project(law, (Vector(2) << 1.0, -1.0).finished());
  EXPECT_GE(line.w2(), 1e-8);
  EXPECT_LE(line.w2(), 1e-5);
}

TEST(Moments, EndsAreAttained) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const double eps = 0.3;
    const CertifiedLaw law = random_law(seed, 3, 3, eps);
    const MomentAnswers answers = certified_moments(law);
    const Vector mean = law.mixture().mean();
    const Matrix covariance = law.mixture().covariance();
    const CovarianceAnswers covariances = certified_covariances(law);
    for (Index i = 0; i < 3; ++i) {
      const auto place = static_cast<std::size_t>(i);
      // A shift by eps, and a stretch of one coordinate about its mean that costs eps.
      EXPECT_NEAR(answers.means[place].upper, mean(i) + eps, 1e-12);
      EXPECT_NEAR(answers.deviations[place].lower, std::max(0.0, std::sqrt(covariance(i, i)) - eps), 1e-12);
      EXPECT_NEAR(covariances.upper(i, i), std::pow(std::sqrt(covariance(i, i)) + eps, 2), 1e-11);
    }
    // u = g (g I - A)^-1 v with A = (E_01 + E_10)/2 stretches 45 and -45 degrees; its cost is an eps of its
    // own.
    for (const double g : {0.6, 1.0, 4.0}) {
      const Matrix pair = covariance.topLeftCorner(2, 2);
      Matrix a = Matrix::Zero(2, 2);
      a(0, 1) = a(1, 0) = 0.5;
      const Matrix map = g / (g * g - 0.25) * (g * Matrix::Identity(2, 2) + a);
      const Matrix moved = map - Matrix::Identity(2, 2);
      const double cost = std::sqrt((moved * pair * moved.transpose()).trace());
      const CovarianceAnswers there = certified_covariances(CertifiedLaw(law.mixture(), cost, cost), {0, 1});
      const double attained = (map * pair * map.transpose())(0, 1);
      EXPECT_GE(there.upper(0, 1), attained);
      EXPECT_NEAR(there.upper(0, 1), attained, 1e-9 * (1.0 + std::abs(attained)));
      const double crude = cost * std::sqrt(pair.trace()) + 0.5 * cost * cost;
      EXPECT_LE(there.upper(0, 1), pair(0, 1) + crude + 1e-12);
      EXPECT_GE(there.lower(0, 1), pair(0, 1) - crude - 1e-12);
    }
  }
}

TEST(Moments, NoiseAndMissingBounds) {
  const CertifiedLine line(normal_line(1.0, 3.0), 1.0, 0.5);
  const Interval noisy = certified_deviation(line, 4.0);
  EXPECT_NEAR(noisy.estimate, 5.0, 1e-14);
  EXPECT_NEAR(noisy.lower, std::sqrt(4.0 + 16.0), 1e-13);
  EXPECT_NEAR(noisy.upper, std::sqrt(16.0 + 16.0), 1e-13);
  EXPECT_NEAR(certified_mean(line).lower, 0.5, 1e-14);
  const CertifiedLaw none = random_law(1, 2, 2, kInfinity);
  EXPECT_EQ(certified_moments(none).means[1].upper, kInfinity);
  EXPECT_EQ(certified_moments(none).deviations[1].lower, 0.0);
  EXPECT_EQ(certified_covariances(none).lower(0, 1), -kInfinity);
  EXPECT_EQ(certified_covariances(none).upper(0, 0), kInfinity);
  EXPECT_LT(certified_covariances(random_law(1, 2, 2, 1e-310)).entry(0, 1).width(), 1e-12);
  const CovarianceAnswers exact = certified_covariances(random_law(1, 2, 2, 0.0));
  EXPECT_LT(exact.entry(0, 1).width(), 1e-12);
  EXPECT_THROW(certified_covariances(none, {0, 2}), InvalidArgument);
  EXPECT_THROW(coordinate(none, 2), InvalidArgument);
  EXPECT_THROW(project(none, Vector::Zero(2)), InvalidArgument);
  EXPECT_THROW(project(none, Vector::Constant(2, kInfinity)), InvalidArgument);
}

TEST(Probability, AgreesWithNaiveDual) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 2);
    const LineMixture line = random_line(generator, 1 + static_cast<Index>(seed % 4));
    const LineRule rule(line);
    const double eps = 0.01 * std::pow(100.0, uniform(generator));
    const double t = 2.0 * random_matrix(generator, 1, 1)(0);
    const double u = t + 0.1 + 3.0 * uniform(generator);
    const auto above = [&](double y) { return std::max(0.0, t - y); };
    const auto below = [&](double y) { return std::max(0.0, y - t); };
    const auto inside = [&](double y) { return std::max({0.0, t - y, y - u}); };
    const auto outside = [&](double y) { return std::max(0.0, std::min(y - t, u - y)); };
    for (const int order : {1, 2}) {
      const CertifiedLine law(line, order == 2 ? eps : kInfinity, eps);
      const Interval half = probability_above(law, t).interval;
      EXPECT_NEAR(half.upper, naive_dual(rule, above, eps, order), 3e-5) << seed;
      EXPECT_NEAR(half.lower, 1.0 - naive_dual(rule, below, eps, order), 3e-5) << seed;
      EXPECT_NEAR(half.estimate, line.tail(t), 1e-15);
      const Interval between = probability_between(law, t, u).interval;
      EXPECT_NEAR(between.upper, naive_dual(rule, inside, eps, order), 3e-5) << seed;
      EXPECT_NEAR(between.lower, 1.0 - naive_dual(rule, outside, eps, order), 3e-5) << seed;
    }
  }
}

TEST(Probability, HalfLineIsAttained) {
  // p moves all of q = N(0,1) within h below t to t; its cost is eps.
  for (const double t : {-1.0, 0.5, 3.0}) {
    for (const double h : {1e-4, 0.1, 1.0}) {
      const double eps = std::sqrt(normal_square_about(t, t - h, t).nominal);
      const Interval answer = probability_above(CertifiedLine(normal_line(0.0, 1.0), eps, eps), t).interval;
      EXPECT_GE(answer.upper, normal_tail(t - h) * (1.0 - 1e-13));
      EXPECT_NEAR(answer.upper, normal_tail(t - h), 1e-9);
    }
  }
}

TEST(Probability, AtomsAreChebyshev) {
  // From an atom at distance 1 a mass of eps^2 can be moved, or of eps1.
  for (const double eps : {1e-3, 0.5, 0.999}) {
    const CertifiedLine law(normal_line(0.0, 0.0), eps, eps);
    EXPECT_GE(probability_above(law, 1.0).interval.upper, eps * eps);
    EXPECT_NEAR(probability_above(law, 1.0).interval.upper, eps * eps, 1e-12);
    EXPECT_NEAR(probability_above(law, -1.0).interval.lower, 1.0 - eps * eps, 1e-12);
    EXPECT_NEAR(probability_between(law, 1.0, 2.0).interval.upper, eps * eps, 1e-12);
    EXPECT_NEAR(probability_between(law, -1.0, 1.0).interval.lower, 1.0 - eps * eps, 1e-12);
    const CertifiedLine first(normal_line(0.0, 0.0), 10.0, eps * eps * 0.5);
    EXPECT_NEAR(probability_above(first, 1.0).interval.upper, eps * eps * 0.5, 1e-12);
  }
}

TEST(Probability, Extremes) {
  const CertifiedLine exact(normal_line(0.0, 1.0), 0.0, 0.0);
  const Interval known = probability_above(exact, 1.0).interval;
  EXPECT_LE(known.lower, normal_tail(1.0));
  EXPECT_GE(known.upper, normal_tail(1.0));
  EXPECT_LT(known.width(), 1e-14);
  EXPECT_LT(probability_above(exact, 1e300).interval.upper, 1e-299);
  EXPECT_GT(probability_above(exact, -1e300).interval.lower, 1.0 - 1e-15);
  for (const double w2 : {kInfinity, std::nan(""), 1e308}) {
    const Interval none = probability_above(CertifiedLine(normal_line(0.0, 1.0), w2, w2), 1.0).interval;
    EXPECT_EQ(none.lower, 0.0);
    EXPECT_EQ(none.upper, 1.0);
  }
  for (const double scale : {1e-300, 1e-160, 1e-30, 1e30, 1e160}) {
    for (const double deviation : {0.0, 1e-8, 1.0, 1e8}) {
      const CertifiedLine law(normal_line(scale, scale * deviation), 0.1 * scale, 0.1 * scale);
      const CertifiedLine unit(normal_line(1.0, deviation), 0.1, 0.1);
      const Interval got = probability_above(law, 2.0 * scale).interval;
      const Interval wanted = probability_above(unit, 2.0).interval;
      EXPECT_NEAR(got.upper, wanted.upper, 1e-9) << scale << ' ' << deviation;
      EXPECT_NEAR(got.lower, wanted.lower, 1e-9) << scale << ' ' << deviation;
    }
  }
  for (const double eps : {1e-300, 1e-20, 1e-12}) {
    EXPECT_NEAR(probability_above(CertifiedLine(normal_line(0.0, 1.0), eps, eps), 1.0).interval.width(), 0.0,
                1e-7);
  }
  EXPECT_EQ(probability_between(exact, 2.0, 1.0).interval.upper, 0.0);
  EXPECT_NEAR(probability_between(exact, -kInfinity, 1.0).interval.upper, normal_cdf(1.0), 1e-14);
  EXPECT_EQ(probability_between(exact, -kInfinity, kInfinity).interval.lower, 1.0);
  EXPECT_THROW(probability_above(exact, std::nan("")), InvalidArgument);
}

TEST(Probability, FallsWithTheBound) {
  const CertifiedLine base(normal_line(0.3, 0.7), 1.0, 1.0);
  double last_width = 1.0;
  for (double eps = 1.0; eps > 1e-9; eps *= 0.5) {
    const double width = probability_above(CertifiedLine(base.mixture(), eps, eps), 1.0).interval.width();
    EXPECT_LE(width, last_width + 1e-12);
    last_width = width;
  }
  EXPECT_LT(last_width, 1e-5);
}

TEST(Credible, HoldsTheMassAndIsTight) {
  for (const double eps : {0.0, 1e-3, 0.1, 3.0}) {
    for (const double level : {0.3, 0.9, 0.999}) {
      const CertifiedLine law(normal_line(1.0, 0.5), eps, eps);
      const CredibleInterval found = credible_interval(law, level);
      EXPECT_GE(probability_between(law, found.lower, found.upper).interval.lower, level - 1e-15);
      EXPECT_GE(found.mixture_mass, level * (1.0 - 1e-6));
      // Somewhat shorter is no longer proven.
      const double less = 1e-6 * (found.upper - found.lower);
      EXPECT_LT(probability_between(law, found.lower + less, found.upper - less).interval.lower, level);
      // No longer than Chebyshev's, no shorter than what q itself asks for.
      EXPECT_LE(found.upper - found.lower, 2.002 * (0.5 + eps) / std::sqrt(1.0 - level));
      EXPECT_GE(found.upper - found.lower, normal_quantile(0.5 * (1.0 + level)) * (1.0 - 1e-6));
    }
  }
  const CredibleInterval none =
      credible_interval(CertifiedLine(normal_line(0.0, 1.0), kInfinity, kInfinity), 0.9);
  EXPECT_EQ(none.upper, kInfinity);
  EXPECT_LT(credible_interval(CertifiedLine(normal_line(0.0, 1.0), kInfinity, 0.1), 0.9).upper, 10.0);
  EXPECT_LT(credible_interval(CertifiedLine(normal_line(2.0, 0.0), 0.0, 0.0), 0.9).upper, 2.0 + 1e-9);
  EXPECT_THROW(credible_interval(CertifiedLine(normal_line(0.0, 1.0), 0.0, 0.0), 1.0), InvalidArgument);
}

}  // namespace answer_test
}  // namespace mixcert::testing
