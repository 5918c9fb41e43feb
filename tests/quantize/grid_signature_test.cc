// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Grid signatures: the error formula against a dense eigen-decomposition, against the coupling
// drawn by Monte Carlo, and against exact one-dimensional transport; degenerate covariances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "mixture/symmetric_eigen.h"
#include "quantize/signature.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace grid_signature_test {

using testing::is_close;
using testing::Structure;
using testing::Tolerance;

/// Nonnegative metric with zeros in it.
Vector random_metric(Generator& generator, Index dimension) {
  return Vector::NullaryExpr(dimension, [&] {
    const double x = uniform(generator);
    return x < 0.2 ? 0.0 : 5.0 * x * x;
  });
}

struct Problem {
  Covariance covariance;
  Vector metric;
  Index budget = 1;
};

/// tr(GC) - sum_j lambda_j (1 - D(N_j)) with eigenvalues from a dense solver, (S.2).
double dense_error(const Problem& problem) {
  const Vector scale = problem.metric.cwiseSqrt();
  const Matrix matrix = scale.asDiagonal() * problem.covariance.to_dense() * scale.asDiagonal();
  const SymmetricEigen solver = symmetric_eigen(matrix);
  const Vector values = solver.values.cwiseMax(0.0);
  const auto distortion = [](Index n) { return optimal_quantizer(n).distortion.nominal; };
  const std::vector<Index> sizes = optimal_grid_sizes(values, problem.budget, distortion);
  double error = 0.0;
  for (Index j = 0; j < values.size(); ++j)
    error += values(j) * distortion(sizes[static_cast<std::size_t>(j)]);
  return error;
}

class SignatureOf : public ::testing::TestWithParam<std::tuple<Structure, Index>> {
 protected:
  [[nodiscard]] Problem make(std::uint64_t seed) const {
    Generator generator = make_generator(seed, Stream::Example);
    Problem problem;
    problem.covariance = testing::random_structured(generator, std::get<0>(GetParam()), 9);
    problem.metric = seed % 2 == 0 ? Vector::Ones(9) : random_metric(generator, 9);
    problem.budget = std::get<1>(GetParam());
    return problem;
  }
  static GridSignature sign(const Problem& problem) {
    return grid_signature(problem.covariance, problem.metric, problem.budget, optimal_quantizer);
  }
};

TEST_P(SignatureOf, ErrorIsTheDenseFormula) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Problem problem = make(seed);
    const GridSignature signature = sign(problem);
    const double got = problem.metric.dot(signature.mean_square_errors(problem.covariance.variances()));
    const double trace = problem.metric.dot(problem.covariance.variances());
    EXPECT_TRUE(is_close(got, dense_error(problem), Tolerance::eigenvalues, trace)) << seed;
  }
}

TEST_P(SignatureOf, PointsHaveTheMeanAndWeightsSumToOne) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Problem problem = make(seed);
    const GridSignature signature = sign(problem);
    const Vector mean = Vector::LinSpaced(9, -1.0, 2.0);
    const DiscreteLaw law = signature.points(mean);
    EXPECT_LE(signature.point_count(), problem.budget);
    ASSERT_EQ(law.points.cols(), signature.point_count());
    EXPECT_TRUE(law.points.allFinite());
    EXPECT_TRUE(testing::is_probability_vector(law.weights));
    EXPECT_TRUE(is_close(Matrix(law.points * law.weights), Matrix(mean), Tolerance::linear_algebra));
    EXPECT_TRUE(signature.direction_error < 1e-6) << signature.direction_error;
  }
}

TEST_P(SignatureOf, DirectionsAreAValidDecomposition) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Problem problem = make(seed);
    const GridSignature signature = sign(problem);
    const Matrix rest =
        problem.covariance.to_dense() - signature.directions * signature.directions.transpose();
    EXPECT_TRUE(
        testing::is_positive_semidefinite(rest + 1e-10 * problem.covariance.trace() * Matrix::Identity(9, 9)))
        << seed;
    EXPECT_EQ(signature.coordinates.empty(),
              !problem.covariance.is_diagonal() || signature.axis_count() == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Structures, SignatureOf,
                         ::testing::Combine(::testing::ValuesIn(testing::all_structures()),
                                            ::testing::Values(1, 2, 10, 100, 1000)),
                         [](const auto& tested) {
                           return testing::to_string(std::get<0>(tested.param)) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

/// Nearest-cell index of x.
Index cell_of(const NormalQuantizer& q, double x) {
  const double* begin = q.boundaries.data() + 1;
  return std::upper_bound(begin, begin + q.size() - 1, x) - begin;
}

TEST(GridSignature, ErrorsAreThoseOfTheCouplingDrawnAtRandom) {
  for (const Structure structure : testing::all_structures()) {
    Generator generator = make_generator(5, Stream::Example);
    const Covariance covariance = testing::random_structured(generator, structure, 6);
    const GridSignature signature = grid_signature(
        covariance, random_metric(generator, 6) + Vector::Constant(6, 0.1), 30, optimal_quantizer);
    const Matrix rest = covariance.to_dense() - signature.directions * signature.directions.transpose();
    const SymmetricEigen solver = symmetric_eigen(rest);
    const Matrix root = solver.vectors * solver.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
    constexpr int kDraws = 20000;
    Vector sum = Vector::Zero(6);
    Vector squares = Vector::Zero(6);
    for (int draw = 0; draw < kDraws; ++draw) {
      Vector difference = root * testing::random_matrix(generator, 6, 1);
      for (Index d = 0; d < signature.axis_count(); ++d) {
        const double xi = testing::random_matrix(generator, 1, 1)(0, 0);
        const NormalQuantizer& q = *signature.quantizers[static_cast<std::size_t>(d)];
        difference += (xi - q.locations(cell_of(q, xi))) * signature.directions.col(d);
      }
      sum += difference.cwiseAbs2();
      squares += difference.cwiseAbs2().cwiseAbs2();
    }
    const Vector mean = sum / kDraws;
    const Vector error = ((squares / kDraws - mean.cwiseAbs2()).cwiseMax(0.0) / kDraws).cwiseSqrt();
    const Vector claimed = signature.mean_square_errors(covariance.variances());
    for (Index i = 0; i < 6; ++i) {
      EXPECT_NEAR(mean(i), claimed(i), Tolerance::standard_errors * error(i) + 1e-12 * covariance.trace())
          << testing::to_string(structure) << " " << i;
    }
  }
}

TEST(GridSignature, OneDimensionIsTheQuantizerScaled) {
  const GridSignature signature =
      grid_signature(Covariance::diagonal(Vector::Constant(1, 4.0)), Vector::Ones(1), 7, uniform_quantizer);
  const DiscreteLaw law = signature.points(Vector::Constant(1, 3.0));
  for (Index i = 0; i < 7; ++i) {
    EXPECT_NEAR(law.points(0, i), 3.0 + 2.0 * uniform_quantizer(7).locations(i), 1e-14);
  }
  EXPECT_NEAR(signature.mean_square_errors(Vector::Constant(1, 4.0))(0),
              4.0 * uniform_quantizer(7).distortion.nominal, 1e-13);
}

TEST(GridSignature, SurvivesSingularCovariancesWithMorePointsThanOneAxisTakes) {
  Generator generator = make_generator(6, Stream::Example);
  for (const Structure structure : {Structure::RankOne, Structure::Dense, Structure::BlocksLowRank}) {
    const Covariance covariance = testing::random_structured(generator, structure, 6);
    const GridSignature signature =
        grid_signature(covariance, Vector::Ones(6), 4 * kMaxQuantizerSize, optimal_quantizer);
    EXPECT_TRUE(signature.directions.allFinite()) << testing::to_string(structure);
    EXPECT_FALSE(std::isnan(signature.direction_error));
    const Vector errors = signature.mean_square_errors(covariance.variances());
    EXPECT_GE(errors.minCoeff(), 0.0);
    EXPECT_LT(errors.sum(), 0.1 * covariance.trace());
  }
}

TEST(MergeEqualPoints, AddsWeightsAndKeepsTheFirst) {
  DiscreteLaw law;
  law.points = (Matrix(2, 5) << 1.0, 0.0, 1.0, -0.0, 2.0, 5.0, 1.0, 5.0, 1.0, 5.0).finished();
  law.weights = (Vector(5) << 0.1, 0.2, 0.3, 0.15, 0.25).finished();
  const DiscreteLaw merged = merge_equal_points(law);
  ASSERT_EQ(merged.points.cols(), 3);
  EXPECT_EQ(merged.points, (Matrix(2, 3) << 1.0, 0.0, 2.0, 5.0, 1.0, 5.0).finished());
  EXPECT_TRUE(is_close(Matrix(merged.weights), (Matrix(3, 1) << 0.4, 0.35, 0.25).finished(), 1e-15));
}

TEST(MergeEqualPoints, LeavesDifferentPointsAlone) {
  Generator generator = make_generator(7, Stream::Example);
  const DiscreteLaw law{testing::random_matrix(generator, 3, 50), testing::random_weights(generator, 50)};
  const DiscreteLaw merged = merge_equal_points(law);
  EXPECT_EQ(merged.points, law.points);
  EXPECT_EQ(merged.weights, law.weights);
}

}  // namespace grid_signature_test
}  // namespace mixcert
