// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The operations of the signature method's reverse mode, each against differences of its forward code.
#include <gtest/gtest.h>

#include <cmath>

#include "gradient/gradient_checks.h"
#include "gradient/signature/signature_gradient.h"
#include "gradient/weight_gradient.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixture/symmetric_eigen.h"
#include "support/random_laws.h"
#include "support/random_network.h"

namespace mixcert {
namespace signature_operation_cases_test {

using testing::random_covariance;
using testing::random_matrix;

Generator generator_of(std::uint64_t seed) { return make_generator(seed, Stream::Example, 77); }

double inner(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

/// Block-diagonal, positive definite.
Matrix random_blocks(Generator& generator, Index count, Index size) {
  Matrix blocks(count * size, size);
  for (Index i = 0; i < count; ++i) blocks.middleRows(i * size, size) = random_covariance(generator, size);
  return blocks;
}

/// Symmetric in each block.
Matrix random_change(Generator& generator, Index count, Index size) {
  Matrix blocks(count * size, size);
  for (Index i = 0; i < count; ++i) {
    const Matrix half = random_matrix(generator, size, size);
    blocks.middleRows(i * size, size) = half + half.transpose();
  }
  return blocks;
}

Gaussian random_gaussian(Generator& generator, Index count, Index size, Index rank) {
  return {random_matrix(generator, count * size, 1),
          Covariance::block_diagonal(random_blocks(generator, count, size))
              .plus_low_rank(random_matrix(generator, count * size, rank))};
}

/// gaussian + t * change, block by block and in the factor.
Gaussian moved(const Gaussian& gaussian, const GaussianGradient& change, double t) {
  return {gaussian.mean + t * change.mean,
          Covariance::block_diagonal(gaussian.covariance.stacked_blocks() + t * change.blocks)
              .plus_low_rank(gaussian.covariance.factor() + t * change.factor)};
}

GaussianGradient random_gaussian_change(Generator& generator, const Gaussian& gaussian) {
  const Covariance& covariance = gaussian.covariance;
  return {random_matrix(generator, gaussian.dimension(), 1),
          0.2 * random_change(generator, covariance.block_count(), covariance.block_size()),
          random_matrix(generator, gaussian.dimension(), covariance.rank())};
}

double inner(const GaussianGradient& a, const GaussianGradient& b) {
  return a.mean.dot(b.mean) + inner(a.blocks, b.blocks) + inner(a.factor, b.factor);
}

struct Shape {
  Index count, size, rank;
};

// SignatureTrace of a square root.

TEST(TraceSqrtGradient, MatchesDifferencesOfTheGain) {
  Generator generator = generator_of(1);
  const Vector x = random_matrix(generator, 12, 1).cwiseAbs();
  const Matrix y = random_matrix(generator, 12, 3);
  const Vector dx = random_matrix(generator, 12, 1);
  const Matrix dy = random_matrix(generator, 12, 3);
  const TraceSqrtGradient gradient = trace_sqrt_gradient(x, y, 1);
  const double expected = testing::difference(
      [&](double t) { return trace_sqrt_gain(x + t * x.cwiseProduct(dx), y + t * dy); }, 1e-3);
  const double got = inner(gradient.blocks, x.cwiseProduct(dx)) + inner(gradient.columns, dy);
  EXPECT_NEAR(got, expected, 1e-7 * gradient.columns.norm());
}

TEST(TraceSqrtGradient, BlocksAreThoseOfTheInverseRoot) {
  Generator generator = generator_of(2);
  const Vector x = random_matrix(generator, 6, 1).cwiseAbs2().array() + 0.1;
  const Matrix y = random_matrix(generator, 6, 2);
  const Matrix full = Matrix(x.asDiagonal()) + y * y.transpose();
  const SymmetricEigen eigen = symmetric_eigen(full);
  Matrix expected =
      0.5 * eigen.vectors * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.vectors.transpose();
  expected.diagonal() -= 0.5 * x.cwiseSqrt().cwiseInverse();
  const TraceSqrtGradient gradient = trace_sqrt_gradient(x, y, 3);
  for (Index i = 0; i < 6; i += 3) {
    EXPECT_LT((gradient.blocks.middleRows(i, 3) - expected.block(i, i, 3, 3)).norm(), 1e-8);
  }
}

// Transport.

class StructuredTransport : public ::testing::TestWithParam<Shape> {};

TEST_P(StructuredTransport, MatchesDifferencesOfTheCost) {
  const auto [count, size, rank] = GetParam();
  Generator generator = generator_of(3 + static_cast<std::uint64_t>(size + 10 * rank));
  const Gaussian from = random_gaussian(generator, count, size, 0);
  const Gaussian to = random_gaussian(generator, count, size, rank);
  const Vector metric = random_matrix(generator, count * size, 1).cwiseAbs().array() + 0.2;
  const StructuredTransportGradient gradient = structured_transport_gradient(from, to, metric);
  for (int direction = 0; direction < 5; ++direction) {
    const GaussianGradient a = random_gaussian_change(generator, from);
    const GaussianGradient c = random_gaussian_change(generator, to);
    const Vector m = random_matrix(generator, metric.size(), 1).cwiseProduct(metric);
    const double expected = testing::difference(
        [&](double t) {
          return gaussian_transport_cost(moved(from, a, t), moved(to, c, t), metric + t * m).nominal;
        },
        1e-4);
    const double got = inner(gradient.from, a) + inner(gradient.to, c) + gradient.metric.dot(m);
    EXPECT_NEAR(got, expected, 1e-6 * (1.0 + std::abs(expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, StructuredTransport,
                         ::testing::Values(Shape{5, 1, 0}, Shape{6, 1, 2}, Shape{12, 1, 10}, Shape{1, 4, 0},
                                           Shape{3, 3, 0}, Shape{3, 3, 2}, Shape{4, 4, 10}));

// Covariances B B' of less than full rank, as several inputs have when few neurons are active.
TEST(StructuredTransportSingular, MatchesDifferencesAlongOneRank) {
  Generator generator = generator_of(20);
  const Index count = 3;
  const Index size = 4;
  const Matrix b = random_matrix(generator, count * size, 2);
  const Matrix db = random_matrix(generator, count * size, 2);
  const Gaussian to = random_gaussian(generator, count, size, 2);
  const auto blocks = [&](const Matrix& root) {
    Matrix stacked(count * size, size);
    for (Index i = 0; i < count * size; i += size) {
      stacked.middleRows(i, size) = root.middleRows(i, size) * root.middleRows(i, size).transpose();
    }
    return Gaussian{Vector::Zero(count * size), Covariance::block_diagonal(stacked)};
  };
  const Vector metric = Vector::LinSpaced(count * size, 0.5, 2.0);
  const StructuredTransportGradient gradient = structured_transport_gradient(blocks(b), to, metric);
  const double expected = testing::difference(
      [&](double t) { return gaussian_transport_cost(blocks(b + t * db), to, metric).nominal; }, 1e-2);
  double got = 0.0;
  for (Index i = 0; i < count * size; i += size) {
    got +=
        2.0 * inner(gradient.from.blocks.middleRows(i, size) * b.middleRows(i, size), db.middleRows(i, size));
  }
  EXPECT_NEAR(got, expected, 1e-5 * std::abs(expected));
}

// Eigenvectors.

TEST(ShiftedInverse, IsThePseudoInverseWithAndWithoutEqualEigenvalues) {
  Generator generator = generator_of(30);
  for (const bool equal : {false, true}) {
    Matrix blocks = random_blocks(generator, 4, 3);
    Matrix factor = random_matrix(generator, 12, 2);
    if (equal) {
      // Two neurons alike: differences of them are orthogonal to the factor.
      blocks.middleRows(3, 3) = blocks.middleRows(0, 3);
      factor.middleRows(3, 3) = factor.middleRows(0, 3);
    }
    const Covariance covariance = Covariance::block_diagonal(blocks).plus_low_rank(factor);
    const SymmetricEigen eigen = symmetric_eigen(covariance.to_dense());
    const ShiftedInverse inverse(covariance);
    const Vector right = random_matrix(generator, 12, 1);
    for (Index d = 0; d < 12; ++d) {
      const double lambda = eigen.values(d);
      const Vector gaps = (lambda - eigen.values.array()).matrix();
      const Vector weights = gaps.unaryExpr(
          [&](double gap) { return std::abs(gap) > kEqualEigenvalues * lambda ? 1.0 / gap : 0.0; });
      const Vector expected = eigen.vectors * weights.cwiseProduct(eigen.vectors.transpose() * right);
      EXPECT_LT((inverse.solve(lambda, right) - expected).norm(), 1e-7 * expected.norm()) << d;
    }
  }
}

class Directions : public ::testing::TestWithParam<Shape> {};

TEST_P(Directions, MatchDifferencesOfSignatures) {
  const auto [count, size, rank] = GetParam();
  Generator generator = generator_of(40 + static_cast<std::uint64_t>(size + 10 * rank));
  const Gaussian gaussian = random_gaussian(generator, count, size, rank);
  const Vector metric = random_matrix(generator, count * size, 1).cwiseAbs().array() + 0.3;
  const GridSignature signature = grid_signature(gaussian.covariance, metric, 12, optimal_quantizer);
  ASSERT_GE(signature.axis_count(), 2);
  ComponentGradient bar = ComponentGradient::zero(gaussian, signature);
  bar.directions = random_matrix(generator, gaussian.dimension(), signature.axis_count());
  const Matrix directions_bar = bar.directions;
  const Vector metric_bar = pull_back_directions(gaussian, signature, metric, bar);
  const GaussianGradient change = random_gaussian_change(generator, gaussian);
  const Vector dm = random_matrix(generator, metric.size(), 1).cwiseProduct(metric);
  const double expected = testing::difference(
      [&](double t) {
        const GridSignature there =
            grid_signature(moved(gaussian, change, t).covariance, metric + t * dm, 12, optimal_quantizer);
        EXPECT_EQ(there.axis_count(), signature.axis_count());
        // An eigenvector's sign is a choice.
        Matrix directions = there.directions;
        for (Index d = 0; d < directions.cols(); ++d) {
          if (directions.col(d).dot(signature.directions.col(d)) < 0.0) directions.col(d) *= -1.0;
        }
        return inner(directions_bar, directions);
      },
      1e-4);
  EXPECT_NEAR(inner(bar.gaussian, change) + metric_bar.dot(dm), expected, 1e-6 * (1.0 + std::abs(expected)));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Directions,
                         ::testing::Values(Shape{5, 1, 2}, Shape{1, 5, 0}, Shape{4, 3, 0}, Shape{4, 3, 2},
                                           Shape{12, 4, 3}));

// Affine maps and chains.

TEST(PointPush, MatchesDifferencesOfThePush) {
  Generator generator = generator_of(60);
  const Network network = testing::random_network({{4, 3}});
  const Vector point = random_matrix(generator, 4 * 3, 1);
  const Vector moves = random_matrix(generator, 4 * 3, 1);
  const NetworkGradient direction = testing::random_direction(generator, network);
  const GaussianGradient bar{random_matrix(generator, 9, 1), random_change(generator, 3, 3), Matrix(9, 0)};
  NetworkGradient gradient = zero_gradient(network);
  const Vector point_bar = pull_back_push(network.layer(0), point, 3, bar, gradient.front());
  const double expected = testing::difference(
      [&](double t) {
        const auto pushed = testing::moved(network, direction, t).layer(0).push(point + t * moves, 3);
        return bar.mean.dot(pushed.means.col(0)) +
               inner(bar.blocks, pushed.covariances.front().stacked_blocks());
      },
      1e-3);
  EXPECT_NEAR(point_bar.dot(moves) + testing::dot(gradient, direction), expected, 1e-9);
}

TEST(Chains, MatchDifferencesOfTheirMetrics) {
  Generator generator = generator_of(70);
  testing::NetworkRecipe recipe;
  recipe.widths = {2, 5, 4, 3, 2};
  recipe.activation = ActivationFunction::Sigmoid;
  const Network network = testing::random_network(recipe);
  const Sensitivity sensitivity = analyse_sensitivity(network);
  std::vector<std::string> names{"paper"};
  for (const MetricChain& chain : sensitivity.metrics) names.push_back(chain.name);
  for (const std::string& name : names) {
    std::vector<Vector> bars;
    ChainGradient chain(network, sensitivity);
    for (Index k = 1; k <= 3; ++k) {
      bars.emplace_back(random_matrix(generator, recipe.widths[static_cast<std::size_t>(k)], 1));
      chain.add(name, k, over_inputs(bars.back(), 2) / 2.0, 2);
    }
    NetworkGradient gradient = zero_gradient(network);
    chain.pull_back(gradient);
    const NetworkGradient direction = testing::random_direction(generator, network);
    const double expected = testing::difference(
        [&](double t) {
          const Sensitivity there = analyse_sensitivity(testing::moved(network, direction, t));
          double sum = 0.0;
          for (std::size_t k = 0; k < 3; ++k)
            sum += bars[k].dot(chain_named(there, name).activation_weights[k]);
          return sum;
        },
        1e-4);
    EXPECT_NEAR(testing::dot(gradient, direction), expected, 1e-7 * (1.0 + std::abs(expected))) << name;
  }
}

}  // namespace signature_operation_cases_test
}  // namespace mixcert
