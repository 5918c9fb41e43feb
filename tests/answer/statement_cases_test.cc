// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statements: their text, distances to polyhedra against a slow projection, and probabilities of laws that
// are made by moving samples of the mixture a known distance.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "answer/dual_bounds.h"
#include "core/normal.h"
#include "mixcert/answer/answers.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace statement_cases_test {

Statement random_statement(Generator& generator, Index rows, Index dimension) {
  return {random_matrix(generator, rows, dimension), 0.5 * random_matrix(generator, rows, 1)};
}

/// lower < y_i < upper for all i.
Statement box(Index dimension, double lower, double upper) {
  Statement statement{Matrix(2 * dimension, dimension), Vector(2 * dimension)};
  statement.rows << Matrix::Identity(dimension, dimension), -Matrix::Identity(dimension, dimension);
  statement.thresholds << Vector::Constant(dimension, lower), Vector::Constant(dimension, -upper);
  return statement;
}

bool fulfils(const Statement& statement, ConstVectorRef y) {
  return ((statement.rows * y - statement.thresholds).array() > 0.0).all();
}

/// Projection onto the polyhedron by Dykstra's algorithm.
Vector projected(const Statement& statement, Vector y) {
  Matrix corrections = Matrix::Zero(y.size(), statement.rows.rows());
  for (int sweep = 0; sweep < 2000; ++sweep) {
    for (Index j = 0; j < statement.rows.rows(); ++j) {
      const Vector row = statement.rows.row(j).transpose();
      const Vector from = y + corrections.col(j);
      const double violation = std::max(0.0, statement.thresholds(j) - row.dot(from));
      y = from + violation / row.squaredNorm() * row;
      corrections.col(j) = from - y;
    }
  }
  return y;
}

TEST(StatementParser, ReadsWhatPeopleWrite) {
  const auto check = [](const std::string& text, const Matrix& rows, const Vector& thresholds) {
    const Statement statement = parse_statement(text, {3});
    EXPECT_EQ(statement.rows, rows) << text;
    EXPECT_EQ(statement.thresholds, thresholds) << text;
  };
  const auto row = [](double a, double b, double c) { return Matrix((Matrix(1, 3) << a, b, c).finished()); };
  check("y2 > 0", row(0, 0, 1), Vector::Zero(1));
  check(" y2>=y0 ", row(-1, 0, 1), Vector::Zero(1));
  check("2*y0 - y1 <= 0.5", row(-2, 1, 0), Vector::Constant(1, -0.5));
  check("class 1 beats class 2", row(0, 1, -1), Vector::Zero(1));
  check("-y0*2 + 1 - .5 > 1e-3 + y1", row(-2, -1, 0), Vector::Constant(1, 1e-3 - 0.5));
  check("-1 < y0 < 1", (Matrix(2, 3) << 1, 0, 0, -1, 0, 0).finished(), Vector::Constant(2, -1.0));
  check("y0 > 1 and class 0 beats class 1", (Matrix(2, 3) << 1, 0, 0, 1, -1, 0).finished(),
        (Vector(2) << 1, 0).finished());
  const Statement joint = parse_statement("y[1,0] > y3", {2, 2});
  EXPECT_EQ(joint.rows, Matrix((Matrix(1, 4) << 0, 0, 1, -1).finished()));
}

TEST(StatementParser, RefusesNonsenseWithItsPlace) {
  const auto message = [](const std::string& text, const OutputShape& shape) -> std::string {
    try {
      parse_statement(text, shape);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted: " + text;
  };
  EXPECT_EQ(message("y3 > 0", {3}), "statement: expected an output in 0..2 at character 2, got '3 > 0'");
  EXPECT_EQ(message("y0 >", {3}),
            "statement: expected a number or an output such as y0 at character 5, got the end of the text");
  for (const char* text : {"",
                           " ",
                           "y",
                           "y0",
                           "y0 > 1 and",
                           "y0 > 1 or y1 > 2",
                           "1 > 2",
                           "y0 > y0",
                           "y0 < 1 > y1",
                           "y-1 > 0",
                           "y 0 = 1",
                           "2y0 > 1",
                           "y0 > nan",
                           "y0 > inf",
                           "y0 > 1e400",
                           "y0 > 1e200",
                           "y[0] > 1",
                           "y[0,9] > 1",
                           "y[9,0] > 1",
                           "y99999999999999999999 > 0",
                           "class 0 beats 1",
                           "class 0 beats class 0",
                           "class0 beats class 1",
                           "y0 > 1 andy1 > 2",
                           "y0 >> 1",
                           "--y0 > 1",
                           "y0 > 0x10",
                           "y0 > 1\n",
                           "y0 > 1; rm",
                           "y0 * y1 > 1",
                           "\xff"}) {
    EXPECT_EQ(message(text, {3}).rfind("statement: expected", 0), 0U) << message(text, {3});
    EXPECT_NE(message(text, {3}).find("at character"), std::string::npos) << text;
  }
  EXPECT_NE(message(std::string(1001, 'y'), {3}).find("1000 characters"), std::string::npos);
  EXPECT_NE(message("class 0 beats class 1", {2, 2}).find("y[input,output]"), std::string::npos);
}

TEST(Polyhedron, DistancesAgainstSlowProjection) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 5);
    const Index n = 1 + static_cast<Index>(seed % 4);
    const bool boxed = seed % 3 == 0;
    const Statement statement = boxed ? box(n, -0.5, 0.7) : random_statement(generator, 1 + n / 2, n);
    const Polyhedron polyhedron(statement);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Vector y = 2.0 * random_matrix(generator, n, 1);
      const double distance = (projected(statement, y) - y).norm();
      const Polyhedron::Distances found = polyhedron.distances(y);
      EXPECT_LE(found.to_set(0), distance + 1e-9);
      EXPECT_GE(found.to_set(0), boxed ? distance - 1e-9 : 0.5 * distance);
      EXPECT_EQ(found.inside == 1, fulfils(statement, y));
      EXPECT_EQ(found.to_complement(0) > 0.0, found.inside == 1);
      // Rows fail for the first time at the nearest face.
      const Vector slack =
          (statement.rows * y - statement.thresholds).array() / statement.rows.rowwise().norm().array();
      EXPECT_NEAR(found.to_complement(0), std::max(0.0, slack.minCoeff()), 1e-12);
    }
  }
}

TEST(Polyhedron, ClassesAreExact) {
  Generator generator = make_generator(9, Stream::Example);
  const Statement statement = class_statement(5, 0, 5, 2);
  const Polyhedron polyhedron(statement);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Vector y = random_matrix(generator, 5, 1);
    EXPECT_NEAR(polyhedron.distances(y).to_set(0), (projected(statement, y) - y).norm(), 1e-6);
  }
}

/// Probability of the statement under p, which moves each sample of q by at most `radius` into or out of the
/// set where it can: a law within `radius` in every Wasserstein distance.
double moved_probability(const CertifiedLaw& law, const Statement& statement, double radius, bool inward) {
  const Matrix samples = sample_mixture(law.mixture(), 20000, 99, Stream::Example, 1);
  const Polyhedron polyhedron(statement);
  const Polyhedron::Distances distances = polyhedron.distances(samples);
  return inward ? (distances.to_set.array() <= radius).cast<double>().mean()
                : (distances.to_complement.array() > radius).cast<double>().mean();
}

TEST(StatementProbability, HoldsForLawsOfMovedSamples) {
  IntegrationOptions options;
  options.samples = 20000;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 6);
    const Index n = 1 + static_cast<Index>(seed % 4);
    const double eps = 0.02 * std::pow(30.0, uniform(generator));
    const CertifiedLaw law(random_mixture(generator, 3, n), eps, eps);
    for (const Statement& statement : {box(n, -2.0, 2.5), random_statement(generator, 1 + n, n)}) {
      const ProbabilityAnswer answer = probability(law, statement, options);
      const double error = 5.0 * 0.5 / std::sqrt(20000.0);
      EXPECT_GE(answer.interval.upper + error, moved_probability(law, statement, eps, true)) << seed;
      EXPECT_LE(answer.interval.lower - error, moved_probability(law, statement, eps, false)) << seed;
      EXPECT_LE(answer.interval.lower, answer.interval.estimate + 1e-12);
      EXPECT_GE(answer.interval.upper, answer.interval.estimate - 1e-12);
      EXPECT_TRUE(answer.failure_probability == 0.0 || answer.failure_probability == 1e-9);
    }
  }
}

TEST(StatementProbability, AgreesWithTheLineWhereItIsOne) {
  Generator generator = make_generator(12, Stream::Example);
  const CertifiedLaw law(random_mixture(generator, 2, 3), 0.05, 0.03);
  const Statement slab = parse_statement("-1 < y0 + y1 < 2", {3});
  const ProbabilityAnswer answer = probability(law, slab);
  const ProbabilityAnswer line = probability_between(project(law, slab.rows.row(0).transpose()), -1.0, 2.0);
  EXPECT_EQ(answer.interval.lower, line.interval.lower);
  EXPECT_EQ(answer.interval.upper, line.interval.upper);
  EXPECT_EQ(answer.failure_probability, 0.0);
  EXPECT_EQ(probability(law, parse_statement("y0 > 1 and y0 < 0 and y1 > 0", {3})).interval.upper, 0.0);
  // Where one output says all, samples can only be worse, and their failure probability is not carried.
  EXPECT_EQ(probability(law, parse_statement("y0 > 1 and y1 > -1e6", {3})).failure_probability, 0.0);
  EXPECT_EQ(probability(law, parse_statement("y0 > -1e6 and y1 > -1e6", {3})).failure_probability, 0.0);
  EXPECT_THROW(probability(law, {Matrix::Zero(1, 3), Vector::Zero(1)}), InvalidArgument);
  EXPECT_THROW(probability(law, {Matrix::Ones(1, 2), Vector::Zero(1)}), InvalidArgument);
  EXPECT_THROW(probability(law, {Matrix::Ones(1, 3), Vector::Constant(1, INFINITY)}), InvalidArgument);
  IntegrationOptions few;
  few.samples = 10;
  EXPECT_THROW(probability(law, slab, few), InvalidArgument);
}

TEST(StatementProbability, IndependentOutputsMultiply) {
  const CertifiedLaw law(GaussianMixture(Gaussian{Vector::Zero(2), Covariance::diagonal(Vector::Ones(2))}),
                         0.0, 0.0);
  const ProbabilityAnswer answer = probability(law, parse_statement("y0 > 0 and y1 > 1", {2}));
  EXPECT_TRUE(answer.interval.contains(0.5 * normal_tail(1.0)));
  EXPECT_LT(answer.interval.width(), 0.02);
  EXPECT_EQ(answer.failure_probability, 1e-9);
  const ProbabilityAnswer again = probability(law, parse_statement("y0 > 0 and y1 > 1", {2}));
  EXPECT_EQ(answer.interval.upper, again.interval.upper);
}

TEST(StatementProbability, CornersAreFartherThanFaces) {
  // From the origin to the corner (1, 1) a mass of eps^2/2 can be moved; one half-space alone says eps^2. The
  // ball that fits into the box has radius 1.
  const double eps = 0.5;
  const CertifiedLaw law(GaussianMixture(Gaussian{Vector::Zero(2), Covariance::zero(2)}), eps, eps);
  const ProbabilityAnswer corner = probability(law, parse_statement("y0 > 1 and y1 > 1", {2}));
  EXPECT_GE(corner.interval.upper, eps * eps / 2.0);
  EXPECT_NEAR(corner.interval.upper, eps * eps / 2.0, 3e-4);
  const ProbabilityAnswer inside = probability(law, parse_statement("-1 < y0 < 1 and -1 < y1 < 1", {2}));
  EXPECT_LE(inside.interval.lower, 1.0 - eps * eps);
  EXPECT_NEAR(inside.interval.lower, 1.0 - eps * eps, 3e-4);
}

TEST(MostLikelyClass, SettlesWhatIsClear) {
  Vector mean(3);
  mean << 0.0, 1.0, -5.0;
  const auto law = [&](double eps) {
    return CertifiedLaw(GaussianMixture(Gaussian{mean, Covariance::diagonal(Vector::Ones(3))}), eps, eps);
  };
  const MostLikelyClass clear = most_likely_class(law(0.01), 0, 3);
  EXPECT_EQ(clear.predicted, 1);
  EXPECT_TRUE(clear.settled);
  EXPECT_TRUE(clear.probabilities[1].interval.contains(normal_tail(-1.0 / std::sqrt(2.0))));
  double estimates = 0.0;
  for (const ProbabilityAnswer& one : clear.probabilities) estimates += one.interval.estimate;
  EXPECT_NEAR(estimates, 1.0, 0.02);
  EXPECT_FALSE(most_likely_class(law(2.0), 0, 3).settled);
  EXPECT_THROW(most_likely_class(law(0.0), 0, 1), InvalidArgument);
  EXPECT_THROW(most_likely_class(law(0.0), 2, 2), InvalidArgument);
}

}  // namespace statement_cases_test
}  // namespace mixcert::testing
