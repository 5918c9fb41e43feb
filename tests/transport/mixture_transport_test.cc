// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// MW2 against closed forms, enumeration of pairings, and the axioms of a distance.
#include "mixcert/transport/mixture_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"
#include "support/random_laws.h"

namespace mixcert {
namespace mixture_transport_test {

using testing::random_covariance;
using testing::random_matrix;
using testing::random_mixture;
using testing::random_weights;

double distance(const GaussianMixture& a, const GaussianMixture& b) {
  return mixture_transport(a, b).distance;
}

/// Costs of dense covariances are rounded up by their eigenvalue errors, of which the
/// square root is taken: distances are accurate to 1e-6, near zero to its square root.
constexpr double kNearZero = 1e-3;
constexpr double kTolerance = 1e-6;

TEST(MixtureTransport, OfSingleGaussiansIsTheirDistance) {
  Generator generator = make_generator(11, Stream::Example);
  for (const Index dimension : {1, 2, 6}) {
    const Gaussian a{random_matrix(generator, dimension, 1),
                     Covariance::dense(random_covariance(generator, dimension))};
    const Gaussian b{random_matrix(generator, dimension, 1),
                     Covariance::dense(random_covariance(generator, dimension))};
    const double exact = gelbrich_squared(a.mean, a.covariance.to_dense(), b.mean, b.covariance.to_dense());
    const MixtureTransport result = mixture_transport(GaussianMixture(a), GaussianMixture(b));
    EXPECT_NEAR(result.distance, std::sqrt(exact), kTolerance);
    EXPECT_GE(result.distance, std::sqrt(exact) - 1e-12);
    ASSERT_EQ(result.plan.entries.size(), 1U);
    EXPECT_EQ(result.plan.entries.front().mass, 1.0);
  }
}

TEST(MixtureTransport, OfDiagonalGaussiansHasAClosedForm) {
  const Gaussian a{Vector{{0.0, 1.0}}, Covariance::diagonal(Vector{{1.0, 4.0}})};
  const Gaussian b{Vector{{2.0, 1.0}}, Covariance::diagonal(Vector{{9.0, 0.0}})};
  EXPECT_NEAR(distance(GaussianMixture(a), GaussianMixture(b)), std::sqrt(4.0 + 4.0 + 4.0), 1e-12);
}

TEST(MixtureTransport, OfEqualWeightsIsTheCheapestPairing) {
  Generator generator = make_generator(12, Stream::Example);
  std::vector<Gaussian> a;
  std::vector<Gaussian> b;
  for (int i = 0; i < 4; ++i) {
    a.push_back({random_matrix(generator, 3, 1), Covariance::diagonal(random_weights(generator, 3))});
    b.push_back({random_matrix(generator, 3, 1), Covariance::diagonal(random_weights(generator, 3))});
  }
  std::vector<std::size_t> order = {0, 1, 2, 3};
  double best = std::numeric_limits<double>::infinity();
  do {
    double total = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      const Gaussian& to = b[order[i]];
      total +=
          (a[i].mean - to.mean).squaredNorm() +
          (a[i].covariance.variances().cwiseSqrt() - to.covariance.variances().cwiseSqrt()).squaredNorm();
    }
    best = std::min(best, total / 4.0);
  } while (std::next_permutation(order.begin(), order.end()));
  const Vector weights = Vector::Constant(4, 0.25);
  EXPECT_NEAR(distance({weights, a}, {weights, b}), std::sqrt(best), kTolerance);
}

TEST(MixtureTransport, IsADistance) {
  Generator generator = make_generator(13, Stream::Example);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const GaussianMixture a = random_mixture(generator, 3, 3);
    const GaussianMixture b = random_mixture(generator, 5, 3);
    const GaussianMixture c = random_mixture(generator, 2, 3);
    const double ab = distance(a, b);
    EXPECT_LE(distance(a, a), kNearZero);
    EXPECT_GT(ab, kNearZero);
    EXPECT_NEAR(ab, distance(b, a), kTolerance);
    EXPECT_LE(distance(a, c), ab + distance(b, c) + kTolerance);
  }
}

TEST(MixtureTransport, DoesNotDependOnOrderOrOnSplittingAComponent) {
  Generator generator = make_generator(14, Stream::Example);
  const GaussianMixture a = random_mixture(generator, 3, 2);
  const GaussianMixture b = random_mixture(generator, 4, 2);
  const Vector weights = a.weights();
  const GaussianMixture rearranged(Vector{{weights(2), 0.25 * weights(0), weights(1), 0.75 * weights(0)}},
                                   {a.component(2), a.component(0), a.component(1), a.component(0)});
  EXPECT_NEAR(distance(a, b), distance(rearranged, b), kTolerance);
  EXPECT_LE(distance(a, rearranged), kNearZero);
}

TEST(MixtureTransport, ComponentsOfWeightZeroDoNotCount) {
  Generator generator = make_generator(15, Stream::Example);
  const GaussianMixture a = random_mixture(generator, 2, 2);
  const GaussianMixture b = random_mixture(generator, 3, 2);
  std::vector<Gaussian> more = a.components();
  more.push_back({Vector::Constant(2, 1e6), Covariance::diagonal(Vector::Constant(2, 1e8))});
  const GaussianMixture padded(Vector{{a.weights()(0), a.weights()(1), 0.0}}, more);
  EXPECT_NEAR(distance(padded, b), distance(a, b), kTolerance);
}

TEST(MixtureTransport, StructureAndDenseFormAgree) {
  Generator generator = make_generator(16, Stream::Example);
  const Vector mean = random_matrix(generator, 4, 1);
  const Covariance structured =
      Covariance::diagonal(random_weights(generator, 4)).plus_low_rank(random_matrix(generator, 4, 1));
  const Gaussian plain{random_matrix(generator, 4, 1), Covariance::diagonal(random_weights(generator, 4))};
  const double by_structure = distance(GaussianMixture({mean, structured}), GaussianMixture(plain));
  const double by_dense =
      distance(GaussianMixture({mean, Covariance::dense(structured.to_dense())}),
               GaussianMixture({plain.mean, Covariance::dense(plain.covariance.to_dense())}));
  EXPECT_NEAR(by_structure, by_dense, kTolerance);
}

TEST(MixtureTransport, RefusesDifferentDimensions) {
  Generator generator = make_generator(17, Stream::Example);
  const GaussianMixture a = random_mixture(generator, 2, 2);
  const GaussianMixture b = random_mixture(generator, 2, 3);
  EXPECT_THROW((void)mixture_transport(a, b), InvalidArgument);
}

}  // namespace mixture_transport_test
}  // namespace mixcert
