// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates by simulation, attacked: small networks with few draws and a failure probability of a tenth.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "simulated/coupled_paths.h"
#include "simulated/naive_coupling.h"
#include "simulated/simulated_bound.h"

namespace mixcert::testing {
namespace simulated_bound_heavy_test {

TEST(SimulatedBoundHeavy, TwoThousandSmallNetworks) {
  Index failures = 0, bounds = 0;
  for (std::uint64_t seed = 1000; seed < 3000; ++seed) {
    const SimulatedCase at = small_case(seed);
    const CoupledChain chain(at.network, *at.trace);
    const SimulationSettings settings{.draws = 1024, .failure_probability = 0.1, .seed = seed, .threads = 2};
    const SimulatedBound bound = CouplingSimulation(chain, settings).bound(at.trace->output.component(0));
    if (!std::isfinite(bound.w2)) continue;
    ++bounds;
    const double coupling = std::sqrt(draw_costs(chain, {991, DrawUse::Main, 0, 200000}, 2, nullptr).mean());
    if (bound.w2 < coupling * 0.995) ++failures;
  }
  std::printf("%d of %d below the coupling\n", static_cast<int>(failures), static_cast<int>(bounds));
  EXPECT_GE(bounds, 1500);
  EXPECT_LE(10 * failures, bounds);
}

}  // namespace simulated_bound_heavy_test
}  // namespace mixcert::testing
