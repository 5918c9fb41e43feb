// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds of convolutional networks certified by simulation: slopes against differences of drawn networks,
// costs against extended precision, bounds against other draws, docs/theory/graphs.md (O.6) - (O.8).
#include "simulated/graph/graph_coupling.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "mixture/symmetric_eigen.h"
#include "simulated/graph_cases.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace graph_coupling_test {

double largest_slope(const GraphCase& at, const BlockRandomness& randomness) {
  return singular_values(naive_slopes(at, randomness).transpose()).values(0);
}

TEST(GraphSlopes, AreNoSmallerThanDifferences) {
  double least = INFINITY;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = small_graph_case(seed);
    const GraphNorms norms(at.graph);
    const GraphSlopes slopes(norms, {at.input});
    Generator generator = make_generator(seed, Stream::Example, 2911);
    const NormalSource source = [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); };
    const int draws = 60;
    Vector found(draws);
    for (double& slope : found) slope = largest_slope(at, BlockRandomness(at.graph, 1, source));
    for (const double q : {2.5, 6.0, 30.0}) {
      const double sampled = std::pow(found.array().pow(q).mean(), 1.0 / q);
      least = std::min(least, slopes.of_outputs(q) / sampled);
      EXPECT_GE(slopes.of_outputs(q), sampled * 0.98);
    }
  }
  std::printf("moments of slopes over simulated ones: at least %.2f\n", least);
}

TEST(GraphCoupling, FailsAsRarelyAsItSays) {
  Index failures = 0, bounds = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = small_graph_case(seed);
    const GraphNorms norms(at.graph);
    const GraphCoupling coupling(at.graph, {at.input},
                                 {.draws = 1024, .failure_probability = 0.1, .seed = seed, .threads = 2});
    const SimulatedBound bound = coupling.bound(norms);
    if (!bound.exists()) continue;
    ++bounds;
    const double cost = std::sqrt(coupling.costs(DrawUse::Marginals, 20000).mean());
    failures += bound.w2 < 0.99 * cost ? 1 : 0;
    EXPECT_LE(std::abs(std::sqrt(coupling.proven_costs(DrawUse::Marginals, 256, norms).mean()) -
                       std::sqrt(coupling.costs(DrawUse::Marginals, 256).mean())),
              1e-6 * (1.0 + cost));
  }
  std::printf("%d of %d bounds below the coupling at failure probability 0.1\n", static_cast<int>(failures),
              static_cast<int>(bounds));
  EXPECT_GE(bounds, 50);
  EXPECT_LE(10 * failures, bounds);
}

TEST(GraphCoupling, HasTheSameBitsForEveryNumberOfThreads) {
  const GraphCase at = small_graph_case(6);
  const GraphNorms norms(at.graph);
  const SimulationSettings one{.draws = 2048, .seed = 3, .threads = 1},
      three{.draws = 2048, .seed = 3, .threads = 3};
  const GraphCoupling a(at.graph, {at.input}, one), b(at.graph, {at.input}, three);
  EXPECT_EQ(a.mixture().mean(), b.mixture().mean());
  EXPECT_EQ(a.bound(norms).w2, b.bound(norms).w2);
}

TEST(GraphCoupling, CertifiesANetworkOfRealSize) {
  for (const bool is_maximum : {false, true}) {
    const GraphCase at = lenet(0.02, is_maximum);
    const auto start = std::chrono::steady_clock::now();
    const GraphNorms norms(at.graph);
    const auto middle = std::chrono::steady_clock::now();
    const GraphCoupling coupling(at.graph, {at.input}, {.draws = 4096, .seed = 1, .threads = 2});
    const SimulatedBound bound = coupling.bound(norms);
    const auto end = std::chrono::steady_clock::now();
    const double size =
        std::sqrt(coupling.mixture().mean().squaredNorm() + coupling.mixture().covariance().trace());
    std::printf(
        "LeNet-5, %s pooling, noise 0.02, %d draws: relative bound %.4f, coupling %.4f, deviation %.4f; "
        "norms %.2f s, then %.2f s\n",
        is_maximum ? "max" : "average", static_cast<int>(bound.draws), bound.w2 / size,
        bound.coupled_cost / size, std::sqrt(coupling.mixture().covariance().trace()) / size,
        std::chrono::duration<double>(middle - start).count(),
        std::chrono::duration<double>(end - middle).count());
    ASSERT_TRUE(bound.exists());
    EXPECT_LE(bound.w2, 0.5 * size);
  }
}

}  // namespace graph_coupling_test
}  // namespace mixcert::testing
