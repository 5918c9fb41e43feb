// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/line/output_draws.h"

#include <algorithm>

#include "mixcert/core/error.h"

namespace mixcert {

std::vector<OutputDraws> sorted_outputs(const DrawPlan& plan, int threads, const CancelFlag* cancel,
                                        Index outputs,
                                        const std::function<DrawnOutputs(RandomBits&, Index)>& draw) {
  // Columns are outputs, so that each is sorted in its place.
  Matrix lower(plan.draws, outputs), upper(plan.draws, outputs);
  for_each_block(plan, threads, cancel, [&](Index first, Index count, RandomBits& bits) {
    const DrawnOutputs drawn = draw(bits, count);
    const Matrix y = drawn.values.transpose();
    // Twice the error is room for the roundings of these two sums.
    const Matrix error = 4.0 * kUnitRoundoff * y.cwiseAbs() + 2.0 * drawn.errors.transpose();
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

std::vector<OutputDraws> draw_outputs(const CoupledChain& chain, const DrawPlan& plan, int threads,
                                      const CancelFlag* cancel) {
  const Index outputs = chain.last().next->outputs();
  return sorted_outputs(plan, threads, cancel, outputs, [&](RandomBits& bits, Index count) -> DrawnOutputs {
    NetworkPaths paths(chain, standard_normals(bits, chain.first_mean.size(), count));
    for (const CoupledStep& step : chain.steps)
      paths.advance(step, standard_normals(bits, step.next->outputs(), count));
    // The error is that of all outputs together, no less than that of one.
    return {paths.values(), paths.error().matrix().transpose().replicate(outputs, 1)};
  });
}

}  // namespace mixcert
