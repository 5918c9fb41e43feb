// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupling's cost from draws, and what the draws did not see from a logarithmic Sobolev inequality:
// docs/theory/simulation.md (F.8).
#include <cmath>

#include "simulated/coupled_paths.h"
#include "simulated/simulated_bound.h"

namespace mixcert {
namespace {

SlopeTail tail_of(const CoupledChain& chain, const ChainOutput& output) {
  return {chain, [&](const SlopeMoments& moments, double q) {
            return enlarged(output.signal_norm() + moments.of_network(q));
          }};
}

}  // namespace

CouplingSimulation::CouplingSimulation(const CoupledChain& chain, const SimulationSettings& settings)
    : chain_(chain),
      settings_(settings),
      output_(chain),
      tail_(tail_of(chain, output_)),
      plan_(draw_costs(chain, settings.plan(DrawUse::Pilot, kPilotDraws), settings.threads, settings.cancel),
            tail_, settings.draws, settings.failure_probability) {}

SimulatedBound CouplingSimulation::bound(const Gaussian& stored) const {
  SimulatedBound result;
  result.failure_probability = settings_.failure_probability;
  const double failure =
      failure_left(settings_, static_cast<double>(plan_.draws) * static_cast<double>(chain_.normal_count()));
  if (!(failure > 0.0)) {
    result.gap = kNothingLeft;
    return result;
  }
  result.theorem = "F.8";
  const ClippedCosts costs(
      draw_costs(chain_, settings_.plan(DrawUse::Main, plan_.draws), settings_.threads, settings_.cancel),
      plan_.clip);
  result.draws = plan_.draws;
  result.coupled_cost = std::sqrt(costs.mean);
  result.w2 =
      enlarged(std::sqrt(mean_cost_bound(costs, plan_.clip, tail_, failure)) + output_.distance_to(stored));
  return result;
}

}  // namespace mixcert
