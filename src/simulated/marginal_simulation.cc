// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of each output by itself, all from the same draws: docs/theory/simulation.md (F.14).
#include <cmath>
#include <utility>

#include "mixcert/network/ensemble.h"
#include "simulated/simulated_bound.h"

namespace mixcert {

std::vector<SimulatedMarginal> simulated_marginals(const SimulationRequest& request,
                                                   const CoupledChain& chain,
                                                   const SimulationSettings& settings) {
  const Index outputs = request.network.outputs();
  const auto n = static_cast<double>(settings.draws);
  const double failure = failure_left(settings, n * static_cast<double>(chain.normal_count() + outputs));
  if (!(failure > 0.0)) return {};
  // Nine tenths for the law of each output, one for its mean.
  const double each = failure / static_cast<double>(outputs) * (1.0 - 1e-12), own_law = 0.9 * each;
  const auto draw = [&](DrawUse use, Index count) {
    return draw_outputs(chain, {settings.seed, use, settings.input, count}, settings.threads,
                        settings.cancel);
  };
  // Everything that is chosen comes from the pilot.
  const std::vector<OutputDraws> pilot = draw(DrawUse::Pilot, kPilotDraws);
  const std::vector<OutputDraws> draws = draw(DrawUse::Marginals, settings.draws);
  std::vector<SimulatedMarginal> marginals;
  for (Index l = 0; l < outputs; ++l) {
    const auto place = static_cast<std::size_t>(l);
    const Network own = combined_output(request.network, Vector::Unit(outputs, l));
    const LinePlan plan(CoupledChain(own, *request.trace), pilot[place], settings.draws, own_law);
    GaussianMixture mixture = request.mixture.marginal({l});
    LineBound bound =
        bound_on_line(plan.law_of(draws[place], own_law), draws[place], mixture, settings.components);
    if (bound.closer) {
      mixture = std::move(bound.closer->mixture);
      bound.w2 = bound.closer->w2;
    }
    const LinePlan::Range mean = plan.mean_of(draws[place], own_law, 0.1 * each);
    marginals.push_back({std::move(mixture), enlarged(bound.w2 + request.first), mean.lower - request.first,
                         mean.upper + request.first});
  }
  return marginals;
}

}  // namespace mixcert
