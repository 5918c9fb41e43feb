// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Runs of layers and moments of slopes are no smaller than what random slopes and simulated gradients show.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simulated/naive_coupling.h"
#include "simulated/slope_moments.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace {

double largest_singular(const Matrix& matrix) {
  // Power iteration from several starts: from below.
  Generator generator = make_generator(9, Stream::Example, 2803);
  double best = 0.0;
  for (int start = 0; start < 3; ++start) {
    Vector x = random_matrix(generator, matrix.cols(), 1);
    for (int step = 0; step < 200; ++step) {
      x = matrix.transpose() * (matrix * x);
      if (!(x.norm() > 0.0)) break;
      x /= x.norm();
    }
    best = std::max(best, (matrix * x).norm());
  }
  return best;
}

TEST(LayerRuns, BoundEveryProductWithSlopesInBetween) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const ActivationFunction function = seed % 2 == 0 ? ActivationFunction::Relu : ActivationFunction::Gelu;
    const SimulatedCase at = deep_case(8, 4, 0.3, function, seed);
    const LayerRuns runs(at.network);
    const SlopeRange range = Activation(function).slope_range();
    Generator generator = make_generator(seed, Stream::Example, 2804);
    for (Index first = 1; first <= 4; ++first) {
      for (Index last = first; last <= 4; ++last) {
        double seen = 0.0;
        for (int trial = 0; trial < 40; ++trial) {
          Matrix product =
              Matrix::Identity(at.network.layer(first).inputs(), at.network.layer(first).inputs());
          for (Index k = first; k <= last; ++k) {
            Vector slopes(product.rows());
            for (double& slope : slopes) slope = uniform(generator) < 0.5 ? range.low : range.high;
            product = at.network.layer(k).weight_mean() * slopes.asDiagonal() * product;
          }
          seen = std::max(seen, largest_singular(product));
        }
        EXPECT_GE(runs.run(last, first), seen);
        EXPECT_LE(runs.run(last, first), 30.0 * seen);
      }
    }
    EXPECT_EQ(runs.run(1, 2), 1.0);
    EXPECT_NEAR(runs.norm(2), largest_singular(at.network.layer(2).weight_mean()), 1e-3 * runs.norm(2));
  }
}

/// |grad |v|| by central differences.
double slope(const SimulatedCase& at, const Vector& normals) {
  const double step = 1e-6;
  Vector gradient(normals.size());
  for (Index i = 0; i < normals.size(); ++i) {
    Vector up = normals, down = normals;
    up(i) += step;
    down(i) -= step;
    gradient(i) = static_cast<double>(naive_cost(at, up) - naive_cost(at, down)) / (2.0 * step);
  }
  return gradient.norm();
}

TEST(SlopeMoments, AreNotBelowSimulatedGradients) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedCase at = small_case(seed);
    const CoupledChain chain(at.network, *at.trace);
    const double signal = ChainOutput(chain).signal_norm();
    const SlopeMoments moments(chain);
    const Index draws = 250;
    Generator generator = make_generator(seed, Stream::Example, 2805);
    for (const double q : {2.0, 4.0, 6.0}) {
      double sum = 0.0;
      for (Index i = 0; i < draws; ++i)
        sum += std::pow(slope(at, random_matrix(generator, naive_normal_count(at), 1)), q);
      const double norm = std::pow(sum / static_cast<double>(draws), 1.0 / q);
      const double bound = signal + moments.of_network(q);
      EXPECT_GE(bound, norm * (1.0 - 1e-6)) << q;
      if (norm > 0.0) least = std::min(least, bound / norm);
    }
  }
  std::printf("moments of slopes over simulated ones: at least %.3f\n", least);
}

}  // namespace
}  // namespace mixcert::testing
