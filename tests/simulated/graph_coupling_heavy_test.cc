// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates by simulation of 300 random convolutional networks, and of 300 with dropout, against other
// draws of the same coupling and against sorted draws of single outputs, docs/theory/graphs.md (O.7), (O.22).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/normal.h"
#include "simulated/graph/graph_coupling.h"
#include "simulated/graph_cases.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace graph_coupling_heavy_test {

/// W2 of the first output's law to the Gaussian's, from sorted draws: below W2 of all outputs.
double sorted_distance(const GraphCase& at, const Gaussian& gaussian, Index draws, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, 2951);
  const NormalSource source = [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); };
  Vector y = run_block(at.graph, at.input, BlockRandomness(at.graph, draws, source)).row(0);
  std::sort(y.begin(), y.end());
  const double deviation = std::sqrt(gaussian.covariance.variances()(0));
  double sum = 0.0;
  for (Index i = 0; i < draws; ++i) {
    const double level = (static_cast<double>(i) + 0.5) / static_cast<double>(draws);
    sum += std::pow(y(i) - gaussian.mean(0) - deviation * normal_quantile(level), 2);
  }
  return std::sqrt(sum / static_cast<double>(draws));
}

using RandomCase = GraphCase (*)(std::uint64_t seed);

/// Bounds of `count` random networks, at least `expected` of which have one.
void expect_bounds_hold(RandomCase random, std::uint64_t count, int expected) {
  int bounds = 0, gaps = 0;
  double least = INFINITY;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = random(seed);
    const GraphNorms norms(at.graph);
    const GraphCoupling coupling(at.graph, {at.input},
                                 {.draws = 2048, .failure_probability = 1e-9, .seed = seed, .threads = 2});
    const SimulatedBound bound = coupling.bound(norms);
    if (!bound.exists()) {
      ++gaps;
      continue;
    }
    ++bounds;
    const Index draws = 8192;
    const Vector costs = coupling.proven_costs(DrawUse::Marginals, draws, norms);
    const double mean = costs.mean();
    const double error = std::sqrt((costs.array() - mean).square().mean() / static_cast<double>(draws));
    least = std::min(least, bound.w2 / std::sqrt(mean));
    EXPECT_GE(bound.w2 * bound.w2, mean - 5.0 * error);
    const double floor = 0.05 * std::sqrt(coupling.mixture().covariance()(0, 0));
    EXPECT_GE(bound.w2 + floor, sorted_distance(at, coupling.mixture().component(0), 4000, seed));
  }
  std::printf("%d bounds, %d networks without one; bounds over couplings: at least %.3f\n", bounds, gaps,
              least);
  EXPECT_GE(bounds, expected);
}

TEST(GraphCouplingHeavy, HoldsOnRandomNetworks) { expect_bounds_hold(random_case, 300, 250); }

TEST(GraphCouplingHeavy, HoldsBehindMasks) { expect_bounds_hold(masked_random_case, 300, 250); }

}  // namespace graph_coupling_heavy_test
}  // namespace mixcert::testing
