// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's lemmas on W2 as properties of the transport code: product laws, invariance
// under isometries, scaling, mixtures, closeness of moments, Gelbrich's bound. Laws are
// finite or Gaussian, so that each statement is an exact inequality, not a statistic.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <vector>

#include "mixcert/transport/gaussian_transport.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/random_laws.h"

namespace mixcert {
namespace wasserstein_lemmas_test {

using testing::random_covariance;
using testing::random_matrix;
using testing::random_mixture;
using testing::random_weights;
using testing::squared_distance_matrix;

constexpr double kTolerance = 1e-9;
/// Costs between dense Gaussians are rounded up by the square root of eigenvalue errors.
constexpr double kMixtureTolerance = 1e-6;

/// A law on finitely many points, the columns.
struct FiniteLaw {
  Matrix points;
  Vector weights;
};

FiniteLaw random_law(Generator& generator, Index dimension, Index size) {
  return {random_matrix(generator, dimension, size), random_weights(generator, size)};
}

double wasserstein2(const FiniteLaw& a, const FiniteLaw& b) {
  const Matrix cost = squared_distance_matrix(a.points, b.points);
  return std::sqrt(optimal_plan(a.weights, b.weights, cost).cost);
}

FiniteLaw product(const FiniteLaw& a, const FiniteLaw& b) {
  const Index size_a = a.weights.size();
  const Index size_b = b.weights.size();
  FiniteLaw result{Matrix(a.points.rows() + b.points.rows(), size_a * size_b), Vector(size_a * size_b)};
  for (Index k = 0; k < size_a * size_b; ++k) {
    result.points.col(k) << a.points.col(k / size_b), b.points.col(k % size_b);
    result.weights(k) = a.weights(k / size_b) * b.weights(k % size_b);
  }
  return result;
}

FiniteLaw mixture_of(const std::vector<FiniteLaw>& laws, const Vector& weights) {
  FiniteLaw result = laws.front();
  result.weights *= weights(0);
  for (Index i = 1; i < weights.size(); ++i) {
    const FiniteLaw& law = laws[static_cast<std::size_t>(i)];
    Matrix points(result.points.rows(), result.points.cols() + law.points.cols());
    Vector masses(points.cols());
    points << result.points, law.points;
    masses << result.weights, weights(i) * law.weights;
    result = {points, masses};
  }
  return result;
}

double root_second_moment(const FiniteLaw& law) {
  return std::sqrt(law.weights.dot(law.points.colwise().squaredNorm().transpose()));
}

double gelbrich(const FiniteLaw& a, const FiniteLaw& b) {
  const auto covariance = [](const FiniteLaw& law, const Vector& mean) {
    const Matrix centred = law.points.colwise() - mean;
    return Matrix(centred * law.weights.asDiagonal() * centred.transpose());
  };
  const Vector mean_a = a.points * a.weights;
  const Vector mean_b = b.points * b.weights;
  return std::sqrt(
      std::max(0.0, gelbrich_squared(mean_a, covariance(a, mean_a), mean_b, covariance(b, mean_b))));
}

Matrix random_rotation(Generator& generator, Index dimension) {
  return Eigen::HouseholderQR<Matrix>(random_matrix(generator, dimension, dimension)).householderQ();
}

class WassersteinLemmas : public ::testing::TestWithParam<int> {
 protected:
  Generator generator_ = make_generator(20, Stream::Example, static_cast<std::uint64_t>(GetParam()));
};

TEST_P(WassersteinLemmas, SquaresAddOverIndependentCoordinates) {
  const FiniteLaw a1 = random_law(generator_, 1, 4);
  const FiniteLaw a2 = random_law(generator_, 2, 3);
  const FiniteLaw b1 = random_law(generator_, 1, 5);
  const FiniteLaw b2 = random_law(generator_, 2, 4);
  const double whole = wasserstein2(product(a1, a2), product(b1, b2));
  const double first = wasserstein2(a1, b1);
  const double second = wasserstein2(a2, b2);
  EXPECT_NEAR(whole * whole, first * first + second * second, kTolerance);
}

TEST_P(WassersteinLemmas, SquaresAddOverIndependentGaussians) {
  const Matrix a = random_covariance(generator_, 2);
  const Matrix b = random_covariance(generator_, 3);
  const Matrix c = random_covariance(generator_, 2);
  const Matrix d = random_covariance(generator_, 3);
  const Vector mean = random_matrix(generator_, 5, 1);
  const Vector zero = Vector::Zero(5);
  Matrix ab = Matrix::Zero(5, 5);
  ab.topLeftCorner(2, 2) = a;
  ab.bottomRightCorner(3, 3) = b;
  Matrix cd = Matrix::Zero(5, 5);
  cd.topLeftCorner(2, 2) = c;
  cd.bottomRightCorner(3, 3) = d;
  const double parts =
      gelbrich_squared(mean.head(2), a, zero.head(2), c) + gelbrich_squared(mean.tail(3), b, zero.tail(3), d);
  EXPECT_NEAR(gelbrich_squared(mean, ab, zero, cd), parts, kTolerance);
}

TEST_P(WassersteinLemmas, IsometriesDoNotChangeDistances) {
  const Matrix rotation = random_rotation(generator_, 3);
  const Vector shift = 5.0 * random_matrix(generator_, 3, 1);
  const auto move = [&](FiniteLaw law) {
    law.points = (rotation * law.points).colwise() + shift;
    return law;
  };
  const auto move_mixture = [&](const GaussianMixture& mixture) {
    std::vector<Gaussian> moved;
    for (const Gaussian& g : mixture.components()) {
      moved.push_back({rotation * g.mean + shift,
                       Covariance::dense(rotation * g.covariance.to_dense() * rotation.transpose())});
    }
    return GaussianMixture(mixture.weights(), moved);
  };
  const FiniteLaw a = random_law(generator_, 3, 12);
  const FiniteLaw b = random_law(generator_, 3, 12);
  EXPECT_NEAR(wasserstein2(a, b), wasserstein2(move(a), move(b)), kTolerance);
  EXPECT_NEAR(empirical_wasserstein2(a.points, b.points),
              empirical_wasserstein2(move(a).points, move(b).points), kTolerance);
  EXPECT_NEAR(gelbrich(a, b), gelbrich(move(a), move(b)), kTolerance);
  const GaussianMixture p = random_mixture(generator_, 3, 3);
  const GaussianMixture q = random_mixture(generator_, 4, 3);
  EXPECT_NEAR(mixture_transport(p, q).distance, mixture_transport(move_mixture(p), move_mixture(q)).distance,
              kMixtureTolerance);
}

TEST_P(WassersteinLemmas, ScalingScalesDistances) {
  const FiniteLaw a = random_law(generator_, 2, 7);
  const FiniteLaw b = random_law(generator_, 2, 9);
  const FiniteLaw scaled_a{-3.0 * a.points, a.weights};
  const FiniteLaw scaled_b{-3.0 * b.points, b.weights};
  EXPECT_NEAR(wasserstein2(scaled_a, scaled_b), 3.0 * wasserstein2(a, b), kTolerance);
}

TEST_P(WassersteinLemmas, OneLipschitzMapsDoNotIncreaseDistances) {
  const FiniteLaw a = random_law(generator_, 2, 8);
  const FiniteLaw b = random_law(generator_, 2, 8);
  const FiniteLaw relu_a{a.points.cwiseMax(0.0), a.weights};
  const FiniteLaw relu_b{b.points.cwiseMax(0.0), b.weights};
  EXPECT_LE(wasserstein2(relu_a, relu_b), wasserstein2(a, b) + kTolerance);
}

TEST_P(WassersteinLemmas, MixturesAreNoFartherThanTheirParts) {
  const Vector weights = random_weights(generator_, 3);
  std::vector<FiniteLaw> from;
  std::vector<FiniteLaw> to;
  double by_parts = 0.0;
  for (Index i = 0; i < 3; ++i) {
    from.push_back(random_law(generator_, 2, 4));
    to.push_back(random_law(generator_, 2, 5));
    const double part = wasserstein2(from.back(), to.back());
    by_parts += weights(i) * part * part;
  }
  const double whole = wasserstein2(mixture_of(from, weights), mixture_of(to, weights));
  EXPECT_LE(whole * whole, by_parts + kTolerance);
}

TEST_P(WassersteinLemmas, MixtureDistanceLiesBetweenGelbrichAndAnyPlan) {
  const GaussianMixture p = random_mixture(generator_, 3, 3);
  const GaussianMixture q = random_mixture(generator_, 4, 3);
  const Vector ones = Vector::Ones(3);
  double independent = 0.0;
  for (Index i = 0; i < p.size(); ++i) {
    for (Index j = 0; j < q.size(); ++j) {
      independent += p.weights()(i) * q.weights()(j) *
                     gaussian_transport_cost(p.component(i), q.component(j), ones).upper;
    }
  }
  const double distance = mixture_transport(p, q).distance;
  EXPECT_LT(distance * distance, independent);
  const double lower = gelbrich_squared(p.mean(), p.covariance(), q.mean(), q.covariance());
  EXPECT_GE(distance * distance, lower - kTolerance);
  EXPECT_GT(lower, 0.0);
}

TEST_P(WassersteinLemmas, SecondMomentsAreAsCloseAsTheLaws) {
  const FiniteLaw a = random_law(generator_, 3, 9);
  FiniteLaw b = random_law(generator_, 3, 6);
  b.points *= 1.0 + GetParam();
  const double difference = std::abs(root_second_moment(a) - root_second_moment(b));
  EXPECT_LE(difference, wasserstein2(a, b) + kTolerance);
  const GaussianMixture p = random_mixture(generator_, 2, 3);
  const GaussianMixture q = random_mixture(generator_, 3, 3);
  EXPECT_LE(std::abs(std::sqrt(p.second_moment()) - std::sqrt(q.second_moment())),
            mixture_transport(p, q).distance + kTolerance);
  // Equality: a law and its multiple.
  const FiniteLaw twice{2.0 * a.points, a.weights};
  EXPECT_NEAR(wasserstein2(a, twice), root_second_moment(a), kTolerance);
}

TEST_P(WassersteinLemmas, MeansAreAsCloseAsTheLaws) {
  const FiniteLaw a = random_law(generator_, 3, 9);
  const FiniteLaw b = random_law(generator_, 3, 6);
  EXPECT_LE((a.points * a.weights - b.points * b.weights).norm(), wasserstein2(a, b) + kTolerance);
}

TEST_P(WassersteinLemmas, GelbrichIsALowerBound) {
  const FiniteLaw a = random_law(generator_, 2, 20);
  const FiniteLaw b = random_law(generator_, 2, 15);
  EXPECT_LE(gelbrich(a, b), wasserstein2(a, b) + kTolerance);
  const Index n = 60;
  const Vector equal = Vector::Constant(n, 1.0 / static_cast<double>(n));
  const Matrix x = random_matrix(generator_, 4, n);
  const Matrix y = 1.5 * random_matrix(generator_, 4, n).array() + 0.2;
  EXPECT_LE(gelbrich({x, equal}, {y, equal}), empirical_wasserstein2(x, y) + kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WassersteinLemmas, ::testing::Range(0, 10));

}  // namespace wasserstein_lemmas_test
}  // namespace mixcert
