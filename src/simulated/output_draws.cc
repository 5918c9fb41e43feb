// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/output_draws.h"

#include <algorithm>

#include "mixcert/core/error.h"

namespace mixcert {

OutputDraws draw_output(const CoupledChain& chain, const DrawPlan& plan, int threads,
                        const CancelFlag* cancel) {
  OutputDraws draws{Vector(plan.draws), Vector(plan.draws)};
  for_each_block(plan, threads, cancel, [&](Index first, Index count, RandomBits& bits) {
    NetworkPaths paths(chain, standard_normals(bits, chain.first_mean.size(), count));
    for (const CoupledStep& step : chain.steps)
      paths.advance(step, standard_normals(bits, step.next->outputs(), count));
    const Vector y = paths.values().row(0).transpose();
    // Twice the error is room for the roundings of these two sums.
    const Vector error = (2.0 * paths.error()).matrix() + 4.0 * kUnitRoundoff * y.cwiseAbs();
    draws.lower.segment(first, count) = y - error;
    draws.upper.segment(first, count) = y + error;
  });
  require(draws.lower.allFinite() && draws.upper.allFinite(),
          "simulation: a draw is not finite; numbers of the network are too large");
  std::sort(draws.lower.begin(), draws.lower.end());
  std::sort(draws.upper.begin(), draws.upper.end());
  return draws;
}

}  // namespace mixcert
