// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupling's cost from draws, and what the draws did not see from a logarithmic Sobolev inequality:
// docs/theory/simulation.md (F.8).
#include <algorithm>
#include <cmath>

#include "core/sample_limits.h"
#include "simulated/coupled_paths.h"
#include "simulated/simulated_bound.h"

namespace mixcert {
namespace {

/// The clip is this much above the largest cost of the pilot: few draws should lie beyond it.
constexpr double kBeyondPilot = 1.5;
/// Draws are enough where the bound is this close to the coupling.
constexpr double kEnough = 1.05;

SlopeTail tail_of(const CoupledChain& chain, const ChainOutput& output) {
  return {chain, [&](const SlopeMoments& moments, double q) {
            return enlarged(output.signal_norm() + moments.of_network(q));
          }};
}

/// Costs, clipped at `clip`: what (F.8) needs of them.
struct ClippedCosts {
  Index draws = 0, beyond = 0;
  double mean = 0.0, variance = 0.0;

  ClippedCosts(const Vector& costs, double clip) : draws(costs.size()) {
    beyond = (costs.array() > clip).count();
    const Vector clipped = costs.cwiseMin(clip);
    // Draws may be more than what (R.10) counts.
    const double rounding = 1.0 + rounding_gamma(2 * draws + 64);
    mean = enlarged(rounding * clipped.mean());
    variance = enlarged(rounding * (clipped.array() - clipped.mean()).square().sum() /
                        static_cast<double>(draws - 1));
  }
};

/// W2^2 of network and chain is at most this but for `failure`.
double squared_bound(const ClippedCosts& costs, double clip, const SlopeTail& tail, double failure) {
  const double mean = largest_mean(costs.mean, costs.variance, clip, costs.draws, 0.5 * failure);
  const double beyond = largest_probability(costs.beyond, costs.draws, 0.5 * failure);
  const double square = tail.square_beyond(beyond);
  return enlarged(mean + 2.0 * std::sqrt(clip * beyond * square) + square);
}

}  // namespace

CouplingSimulation::CouplingSimulation(const CoupledChain& chain, const SimulationSettings& settings)
    : chain_(chain), settings_(settings), output_(chain), tail_(tail_of(chain, output_)) {
  const DrawPlan plan{settings.seed, DrawUse::Pilot, settings.input, kPilotDraws};
  const Vector pilot = draw_costs(chain, plan, settings.threads, settings.cancel);
  clip_ = kBeyondPilot * kBeyondPilot * pilot.maxCoeff();
  // The fewest draws of 2^k 1024 for which the pilot promises a bound close to the coupling, or all.
  ClippedCosts expected(pilot, clip_);
  expected.beyond = 0;
  const auto promise = [&](Index draws) {
    expected.draws = draws;
    return squared_bound(expected, clip_, tail_, settings.failure_probability);
  };
  draws_ = 1024;
  while (draws_ < settings.draws && !(promise(draws_) <= kEnough * kEnough * expected.mean)) draws_ *= 2;
  draws_ = std::min(draws_, settings.draws);
  promised_ = std::sqrt(promise(draws_));
}

SimulatedBound CouplingSimulation::bound(const Gaussian& stored) const {
  SimulatedBound result;
  result.failure_probability = settings_.failure_probability;
  const double failure =
      failure_left(settings_, static_cast<double>(draws_) * static_cast<double>(chain_.normal_count()));
  if (!(failure > 0.0)) {
    result.gap = kNothingLeft;
    return result;
  }
  result.theorem = "F.8";
  const DrawPlan plan{settings_.seed, DrawUse::Main, settings_.input, draws_};
  const ClippedCosts costs(draw_costs(chain_, plan, settings_.threads, settings_.cancel), clip_);
  result.draws = draws_;
  result.coupled_cost = std::sqrt(costs.mean);
  result.w2 = enlarged(std::sqrt(squared_bound(costs, clip_, tail_, failure)) + output_.distance_to(stored));
  return result;
}

}  // namespace mixcert
