// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments, marginals, conditionals and densities of mixtures against dense textbook formulas.
#include "mixcert/mixture/gaussian_mixture.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace gaussian_mixture_test {

using testing::is_close;
using testing::Structure;
using testing::Tolerance;

GaussianMixture make_mixture(Structure structure, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example);
  std::vector<Gaussian> components;
  for (int i = 0; i < 4; ++i) {
    components.push_back(
        {testing::random_matrix(generator, 6, 1), testing::random_structured(generator, structure, 6)});
  }
  Vector weights = testing::random_weights(generator, 4);
  weights /= weights.sum();
  return {weights, std::move(components)};
}

/// Density of one Gaussian by determinant and inverse.
double naive_density(const Vector& deviation, const Matrix& covariance) {
  const double n = static_cast<double>(deviation.size());
  const double exponent = -0.5 * deviation.dot(covariance.inverse() * deviation);
  return std::exp(exponent) / std::sqrt(std::pow(2.0 * std::numbers::pi, n) * covariance.determinant());
}

double naive_density(const GaussianMixture& mixture, const Vector& point) {
  double sum = 0.0;
  for (Index i = 0; i < mixture.size(); ++i) {
    sum += mixture.weights()(i) *
           naive_density(point - mixture.component(i).mean, mixture.component(i).covariance.to_dense());
  }
  return sum;
}

class MixtureOf : public ::testing::TestWithParam<Structure> {};

TEST_P(MixtureOf, MomentsAreSumsOfRawMoments) {
  const GaussianMixture mixture = make_mixture(GetParam(), 61);
  Vector mean = Vector::Zero(6);
  Matrix raw = Matrix::Zero(6, 6);
  for (Index i = 0; i < mixture.size(); ++i) {
    const Vector& m = mixture.component(i).mean;
    mean += mixture.weights()(i) * m;
    raw += mixture.weights()(i) * (mixture.component(i).covariance.to_dense() + m * m.transpose());
  }
  const Matrix covariance = raw - mean * mean.transpose();
  EXPECT_TRUE(is_close(Matrix(mixture.mean()), Matrix(mean), Tolerance::linear_algebra));
  EXPECT_TRUE(is_close(mixture.covariance(), covariance, Tolerance::linear_algebra));
  EXPECT_TRUE(is_close(Matrix(mixture.standard_deviation()), Matrix(covariance.diagonal().cwiseSqrt()),
                       Tolerance::linear_algebra));
  EXPECT_TRUE(is_close(mixture.second_moment(), raw.trace(), Tolerance::linear_algebra));
  EXPECT_TRUE(testing::is_valid_mixture(mixture));
}

TEST_P(MixtureOf, MarginalsAndPermutationsSelectEntries) {
  const GaussianMixture mixture = make_mixture(GetParam(), 62);
  const std::vector<Index> indices = {4, 0, 3};
  const GaussianMixture marginal = mixture.marginal(indices);
  EXPECT_EQ(marginal.weights(), mixture.weights());
  const Matrix dense = mixture.component(2).covariance.to_dense();
  for (Index i = 0; i < 3; ++i) {
    const Index from = indices[static_cast<std::size_t>(i)];
    EXPECT_EQ(marginal.component(2).mean(i), mixture.component(2).mean(from));
    for (Index j = 0; j < 3; ++j) {
      EXPECT_TRUE(is_close(marginal.component(2).covariance.to_dense()(i, j),
                           dense(from, indices[static_cast<std::size_t>(j)]), Tolerance::linear_algebra,
                           dense.trace()));
    }
  }
  const GaussianMixture twice = mixture.permuted({5, 4, 3, 2, 1, 0}).permuted({5, 4, 3, 2, 1, 0});
  EXPECT_TRUE(is_close(twice.covariance(), mixture.covariance(), Tolerance::linear_algebra));
  EXPECT_TRUE(is_close(Matrix(twice.mean()), Matrix(mixture.mean()), Tolerance::linear_algebra));
}

INSTANTIATE_TEST_SUITE_P(Structures, MixtureOf, ::testing::ValuesIn(testing::all_structures()),
                         [](const auto& tested) { return testing::to_string(tested.param); });

class RegularMixtureOf : public ::testing::TestWithParam<Structure> {};

TEST_P(RegularMixtureOf, LogDensityMatchesDeterminantAndInverse) {
  const GaussianMixture mixture = make_mixture(GetParam(), 63);
  Generator generator = make_generator(64, Stream::Example);
  for (int i = 0; i < 20; ++i) {
    const Vector point = 2.0 * testing::random_matrix(generator, 6, 1);
    EXPECT_TRUE(is_close(std::exp(mixture.log_density(point)), naive_density(mixture, point), 1e-8));
  }
}

TEST_P(RegularMixtureOf, ConditionalTimesMarginalIsTheJointDensity) {
  const GaussianMixture mixture = make_mixture(GetParam(), 65);
  Generator generator = make_generator(66, Stream::Example);
  const std::vector<Index> given = {5, 1};
  for (int i = 0; i < 20; ++i) {
    const Vector point = testing::random_matrix(generator, 6, 1);
    const Vector values = (Vector(2) << point(5), point(1)).finished();
    const Vector rest = (Vector(4) << point(0), point(2), point(3), point(4)).finished();
    const GaussianMixture conditional = mixture.conditional(given, values);
    EXPECT_TRUE(testing::is_valid_mixture(conditional));
    EXPECT_NEAR(conditional.log_density(rest) + mixture.marginal(given).log_density(values),
                mixture.log_density(point), 1e-8);
  }
}

TEST_P(RegularMixtureOf, FarAwayPointsStayFinite) {
  const GaussianMixture mixture = make_mixture(GetParam(), 67);
  const Vector far = Vector::Constant(6, 1e5);
  EXPECT_TRUE(std::isfinite(mixture.log_density(far)));
  EXPECT_TRUE(testing::is_valid_mixture(mixture.conditional({0}, Vector::Constant(1, 1e5))));
}

INSTANTIATE_TEST_SUITE_P(Structures, RegularMixtureOf,
                         ::testing::Values(Structure::Diagonal, Structure::DiagonalLowRank, Structure::Dense),
                         [](const auto& tested) { return testing::to_string(tested.param); });

TEST(GaussianMixture, ConditionalOfOneGaussianIsTheTextbookFormula) {
  const Matrix c = (Matrix(2, 2) << 2.0, 0.6, 0.6, 0.5).finished();
  const GaussianMixture mixture(Gaussian{Vector::Ones(2), Covariance::dense(c)});
  const GaussianMixture given = mixture.conditional({1}, Vector::Constant(1, 3.0));
  EXPECT_NEAR(given.component(0).mean(0), 1.0 + 0.6 / 0.5 * 2.0, 1e-14);
  EXPECT_NEAR(given.component(0).covariance.to_dense()(0, 0), 2.0 - 0.36 / 0.5, 1e-14);
}

TEST(GaussianMixture, SingularLawsHaveNoDensity) {
  Generator generator = make_generator(68, Stream::Example);
  for (int trial = 0; trial < 50; ++trial) {
    const Index n = 2 + trial % 5;
    const Matrix factor = testing::random_matrix(generator, n, n - 1);
    const GaussianMixture mixture(Gaussian{
        Vector::Zero(n), Covariance::dense(std::pow(10.0, trial % 9 - 4) * factor * factor.transpose())});
    EXPECT_THROW((void)mixture.log_density(Vector::Ones(n)), InvalidArgument) << trial;
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    EXPECT_THROW((void)mixture.conditional(all, Vector::Ones(n)), InvalidArgument) << trial;
  }
  EXPECT_THROW(
      (void)GaussianMixture(Gaussian{Vector::Zero(3), Covariance::zero(3)}).log_density(Vector::Ones(3)),
      InvalidArgument);
}

TEST(GaussianMixture, SmallButRegularCovariancesHaveADensity) {
  // Badly scaled is not singular: variances 1e-12 and 1e6, correlated by 0.9.
  const Matrix c = (Matrix(2, 2) << 1e-12, 0.9e-3, 0.9e-3, 1e6).finished();
  const GaussianMixture mixture(Gaussian{Vector::Zero(2), Covariance::dense(c)});
  const double expected = -std::log(2.0 * std::numbers::pi) - 0.5 * std::log(1e-6 * 0.19);
  EXPECT_NEAR(mixture.log_density(Vector::Zero(2)), expected, 1e-9);
}

TEST(GaussianMixture, WeightlessComponentsDoNotCount) {
  const Gaussian a{Vector::Zero(2), Covariance::diagonal(Vector::Ones(2))};
  const Gaussian b{Vector::Constant(2, 5.0), Covariance::diagonal(Vector::Ones(2))};
  const GaussianMixture mixture((Vector(2) << 1.0, 0.0).finished(), {a, b});
  EXPECT_NEAR(mixture.log_density(Vector::Zero(2)), -std::log(2.0 * std::numbers::pi), 1e-14);
  EXPECT_LT(mixture.conditional({0}, Vector::Zero(1)).weights()(1), 1e-300);
}

TEST(GaussianMixture, RefusesBadArguments) {
  const Gaussian a{Vector::Zero(2), Covariance::diagonal(Vector::Ones(2))};
  const Gaussian other{Vector::Zero(3), Covariance::diagonal(Vector::Ones(3))};
  const Gaussian broken{Vector::Zero(2), Covariance::diagonal(Vector::Ones(3))};
  const Vector half = Vector::Constant(2, 0.5);
  EXPECT_THROW(GaussianMixture(half, {a}), InvalidArgument);
  EXPECT_THROW(GaussianMixture(Vector(0), {}), InvalidArgument);
  EXPECT_THROW(GaussianMixture((Vector(2) << 1.5, -0.5).finished(), {a, a}), InvalidArgument);
  EXPECT_THROW(GaussianMixture(1.1 * half, {a, a}), InvalidArgument);
  EXPECT_THROW(GaussianMixture((Vector(2) << NAN, 1.0).finished(), {a, a}), InvalidArgument);
  EXPECT_THROW(GaussianMixture(half, {a, other}), InvalidArgument);
  EXPECT_THROW(GaussianMixture{broken}, InvalidArgument);
  const GaussianMixture mixture(a);
  EXPECT_THROW((void)mixture.marginal({2}), InvalidArgument);
  EXPECT_THROW((void)mixture.marginal({-1}), InvalidArgument);
  EXPECT_THROW((void)mixture.marginal({0, 0}), InvalidArgument);
  EXPECT_THROW((void)mixture.permuted({0}), InvalidArgument);
  EXPECT_THROW((void)mixture.conditional({0}, Vector::Ones(2)), InvalidArgument);
  EXPECT_THROW((void)mixture.conditional({0, 1}, Vector::Ones(2)), InvalidArgument);
  EXPECT_EQ(mixture.conditional({}, Vector(0)).mean(), mixture.mean());
  EXPECT_THROW((void)mixture.log_density(Vector::Ones(3)), InvalidArgument);
}

}  // namespace gaussian_mixture_test
}  // namespace mixcert
