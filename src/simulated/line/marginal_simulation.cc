// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of each output by itself, all from the same draws: docs/theory/simulation.md (F.14).
#include <cmath>
#include <utility>

#include "simulated/line/output_simulation.h"

namespace mixcert {

std::vector<SimulatedMarginal> simulated_marginals(const SimulationRequest& request,
                                                   const OutputSource& source,
                                                   const SimulationSettings& settings, double together) {
  const auto n = static_cast<double>(settings.draws);
  const double failure = failure_left(settings, n * static_cast<double>(source.normals));
  if (!(failure > 0.0)) return {};
  // Nine tenths for the law of each output, one for its mean.
  const double each = failure / static_cast<double>(source.outputs) * (1.0 - 1e-12), own_law = 0.9 * each;
  // Everything that is chosen comes from the pilot.
  const std::vector<OutputDraws> pilot = source.draw(settings.plan(DrawUse::Pilot, kPilotDraws));
  const std::vector<OutputDraws> draws = source.draw(settings.plan(DrawUse::Marginals, settings.draws));
  std::vector<SimulatedMarginal> marginals;
  for (Index l = 0; l < source.outputs; ++l) {
    const auto place = static_cast<std::size_t>(l);
    const LinePlan plan(source.tail(l), pilot[place], settings.draws, own_law);
    GaussianMixture mixture = request.mixture.marginal({l});
    LineBound bound =
        bound_on_line(plan.law_of(draws[place], own_law), draws[place], mixture, settings.components);
    if (bound.closer) {
      mixture = std::move(bound.closer->mixture);
      bound.w2 = bound.closer->w2;
    }
    const LinePlan::Range mean = plan.mean_of(draws[place], own_law, 0.1 * each);
    double w2 = enlarged(bound.w2 + request.first);
    // All outputs together are no closer than one of them.
    if (together < w2) {
      mixture = request.mixture.marginal({l});
      w2 = together;
    }
    marginals.push_back(
        {std::move(mixture), w2, next_down(mean.lower - request.first), next_up(mean.upper + request.first)});
  }
  return marginals;
}

}  // namespace mixcert
