// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/output_draws.h"

#include <algorithm>

#include "mixcert/core/error.h"

namespace mixcert {

std::vector<OutputDraws> draw_outputs(const CoupledChain& chain, const DrawPlan& plan, int threads,
                                      const CancelFlag* cancel) {
  const Index outputs = chain.last().next->outputs();
  // Columns are outputs, so that each is sorted in its place.
  Matrix lower(plan.draws, outputs), upper(plan.draws, outputs);
  for_each_block(plan, threads, cancel, [&](Index first, Index count, RandomBits& bits) {
    NetworkPaths paths(chain, standard_normals(bits, chain.first_mean.size(), count));
    for (const CoupledStep& step : chain.steps)
      paths.advance(step, standard_normals(bits, step.next->outputs(), count));
    const Matrix y = paths.values().transpose();
    // Twice the error, which is that of all outputs together, is room for the roundings of these two sums.
    const Matrix error = (4.0 * kUnitRoundoff * y.cwiseAbs()).colwise() + (2.0 * paths.error()).matrix();
    lower.middleRows(first, count) = y - error;
    upper.middleRows(first, count) = y + error;
  });
  require(lower.allFinite() && upper.allFinite(),
          "simulation: a draw is not finite; numbers of the network are too large");
  std::vector<OutputDraws> draws;
  for (Index l = 0; l < outputs; ++l) {
    draws.push_back({lower.col(l), upper.col(l)});
    std::sort(draws.back().lower.begin(), draws.back().lower.end());
    std::sort(draws.back().upper.begin(), draws.back().upper.end());
  }
  return draws;
}

}  // namespace mixcert
