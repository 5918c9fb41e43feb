// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Runs of layers and moments of slopes are no smaller than what random slopes and simulated gradients show.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "simulated/naive_coupling.h"
#include "simulated/slope_moments.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace slope_moments_cases_test {

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
    std::vector<Matrix> weights;
    for (Index k = 1; k <= 4; ++k) weights.push_back(at.network.layer(k).weight_mean());
    const LayerRuns runs(weights, {4, slopes_of(at.network.activation(1), 8)});
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
    const double norm = largest_singular(weights[1]);
    EXPECT_GE(spectral_norm(weights[1]), norm);
    EXPECT_LE(spectral_norm(weights[1]), norm * (1.0 + 1e-3));
  }
}

using NaiveFunction = long double (*)(const SimulatedCase&, const Vector&);

/// |grad| by central differences.
double slope(NaiveFunction function, const SimulatedCase& at, const Vector& normals) {
  const double step = 1e-6;
  Vector gradient(normals.size());
  for (Index i = 0; i < normals.size(); ++i) {
    Vector up = normals, down = normals;
    up(i) += step;
    down(i) -= step;
    gradient(i) = static_cast<double>(function(at, up) - function(at, down)) / (2.0 * step);
  }
  return gradient.norm();
}

/// The least of bound(q) over the simulated norm of the slope.
double least_ratio(NaiveFunction function, const SimulatedCase& at, Index normals, std::uint64_t seed,
                   const std::function<double(double)>& bound) {
  const Index draws = 250;
  double least = std::numeric_limits<double>::infinity();
  Generator generator = make_generator(seed, Stream::Example, 2805);
  for (const double q : {2.0, 4.0, 6.0}) {
    double sum = 0.0;
    for (Index i = 0; i < draws; ++i)
      sum += std::pow(slope(function, at, random_matrix(generator, normals, 1)), q);
    const double norm = std::pow(sum / static_cast<double>(draws), 1.0 / q);
    if (norm > 0.0) least = std::min(least, bound(q) / norm);
  }
  return least;
}

TEST(SlopeMoments, AreNotBelowSimulatedGradients) {
  double least = std::numeric_limits<double>::infinity(), least_output = least;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedCase at = small_case(seed), one = small_case(seed, 1);
    const CoupledChain chain(at.network, *at.trace), one_chain(one.network, *one.trace);
    const double signal = ChainOutput(chain).signal_norm();
    // Units change the bounds and not what they bound.
    const bool equal = seed % 2 == 0;
    const SlopeMoments moments(chain, equal ? equal_units(chain) : noise_units(chain));
    const SlopeMoments one_moments(one_chain, equal ? equal_units(one_chain) : noise_units(one_chain));
    least = std::min(least, least_ratio(&naive_cost, at, naive_normal_count(at), seed,
                                        [&](double q) { return signal + moments.of_network(q); }));
    least_output = std::min(least_output, least_ratio(&naive_output, one, naive_normal_count(one) + 1, seed,
                                                      [&](double q) { return one_moments.of_output(q); }));
  }
  std::printf("moments of slopes over simulated ones: at least %.3f, of one output %.3f\n", least,
              least_output);
  EXPECT_GE(least, 1.0 - 1e-6);
  EXPECT_GE(least_output, 1.0 - 1e-6);
}

}  // namespace slope_moments_cases_test
}  // namespace mixcert::testing
