// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The cross scheme against the paper's two algorithms written out with Boost's distributions.
#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "mixcert/core/error.h"
#include "quantize/signature.h"
#include "support/matchers.h"
#include "support/random_covariances.h"

namespace mixcert {
namespace cross_signature_test {

using testing::is_close;
using testing::Structure;
using testing::Tolerance;

/// The paper's axis radii: sqrt(n) times the conditional means of equally likely shells of Z+.
std::vector<double> naive_radii(Index levels, Index dimension) {
  const boost::math::normal law;
  std::vector<double> quantiles = {0.0};
  for (Index l = 1; l < levels; ++l) {
    quantiles.push_back(
        boost::math::quantile(law, 0.5 + static_cast<double>(l) / (2.0 * static_cast<double>(levels))));
  }
  std::vector<double> radii;
  for (std::size_t l = 0; l < quantiles.size(); ++l) {
    const bool last = l + 1 == quantiles.size();
    const double outer_density = last ? 0.0 : boost::math::pdf(law, quantiles[l + 1]);
    const double outer_mass = last ? 1.0 : boost::math::cdf(law, quantiles[l + 1]);
    const double mass = outer_mass - boost::math::cdf(law, quantiles[l]);
    radii.push_back((boost::math::pdf(law, quantiles[l]) - outer_density) / mass *
                    std::sqrt(static_cast<double>(dimension)));
  }
  return radii;
}

std::vector<double> naive_weights(const std::vector<double>& radii, Index dimension) {
  const boost::math::chi_squared law(static_cast<double>(dimension));
  std::vector<double> weights;
  double inside = 0.0;
  for (std::size_t l = 0; l < radii.size(); ++l) {
    const double edge = l + 1 < radii.size() ? 0.5 * (radii[l] + radii[l + 1]) : 0.0;
    const double next = l + 1 < radii.size() ? boost::math::cdf(law, edge * edge) : 1.0;
    weights.push_back((next - inside) / (2.0 * static_cast<double>(dimension)));
    inside = next;
  }
  return weights;
}

struct Size {
  Index dimension, budget, levels;
};

class Cross : public ::testing::TestWithParam<Size> {};

TEST_P(Cross, HasThePapersRadiiAndWeights) {
  const auto [n, budget, levels] = GetParam();
  // Distinct variances, so that the principal axes are the coordinates in this order.
  const Vector variances = Vector::LinSpaced(n, 3.0, 1.0);
  const Vector mean = Vector::LinSpaced(n, -1.0, 1.0);
  const DiscreteLaw law = cross_signature({mean, Covariance::diagonal(variances)}, budget);
  ASSERT_EQ(law.points.cols(), 2 * n * levels);
  EXPECT_TRUE(testing::is_probability_vector(law.weights));
  const std::vector<double> radii = naive_radii(levels, n);
  const std::vector<double> weights = naive_weights(radii, n);
  for (Index column = 0; column < law.points.cols(); ++column) {
    const auto level = static_cast<std::size_t>(column / (2 * n));
    const Index axis = column % (2 * n) / 2;
    Vector expected = mean;
    expected(axis) += (column % 2 == 0 ? 1.0 : -1.0) * radii[level] * std::sqrt(variances(axis));
    EXPECT_TRUE(is_close(Matrix(law.points.col(column)), Matrix(expected), 1e-12));
    EXPECT_NEAR(law.weights(column), weights[level], 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Cross,
                         ::testing::Values(Size{1, 1, 1}, Size{1, 10, 5}, Size{2, 3, 1}, Size{2, 23, 5},
                                           Size{5, 10, 1}, Size{5, 100, 10}, Size{30, 10, 1}));

TEST(CrossSignature, OneLevelMatchesTwoOverPiOfTheVariance) {
  for (const Structure structure : testing::all_structures()) {
    Generator generator = make_generator(4, Stream::Example);
    const Covariance covariance = testing::random_structured(generator, structure, 6);
    const Vector mean = testing::random_matrix(generator, 6, 1);
    const DiscreteLaw law = cross_signature({mean, covariance}, 12);
    const Matrix shifted = law.points.colwise() - mean;
    const Matrix spread = shifted * law.weights.asDiagonal() * shifted.transpose();
    EXPECT_TRUE(
        is_close(spread, Matrix(2.0 / std::numbers::pi * covariance.to_dense()), Tolerance::eigenvalues))
        << testing::to_string(structure);
    EXPECT_TRUE(is_close(Matrix(law.points * law.weights), Matrix(mean), Tolerance::linear_algebra));
  }
}

TEST(CrossSignature, RefusesAnEmptyBudgetOrDimension) {
  EXPECT_THROW(cross_signature({Vector::Zero(2), Covariance::zero(2)}, 0), InvalidArgument);
  EXPECT_THROW(cross_signature({Vector(0), Covariance::zero(0)}, 5), InvalidArgument);
}

}  // namespace cross_signature_test
}  // namespace mixcert
