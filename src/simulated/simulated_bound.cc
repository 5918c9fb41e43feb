// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupling's cost from draws, and what the draws did not see from a logarithmic Sobolev inequality:
// docs/theory/simulation.md (F.8).
#include "simulated/simulated_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "mixcert/core/error.h"
#include "mixcert/simulated/simulation_service.h"
#include "simulated/coupled_paths.h"
#include "simulated/limits.h"
#include "simulated/slope_moments.h"

namespace mixcert {
namespace {

constexpr const char* kOtherMixture = "the mixture is not the moment method's one Gaussian";
constexpr Index kPilotDraws = 4096;
/// The clip is this much above the largest cost of the pilot: few draws should lie beyond it.
constexpr double kBeyondPilot = 1.5;
/// Draws are enough where the bound is this close to the coupling.
constexpr double kEnough = 1.05;
constexpr std::array<double, 12> kExponents = {2.5,  3.0,  4.0,  6.0,  9.0,   14.0,
                                               20.0, 30.0, 48.0, 80.0, 130.0, 200.0};

/// 2/log(1/eps) eps^{1-2/q} Gamma_q^2, smallest over q: no less than E (F - t)_+^2 where P(F > t) <= eps.
class Tail {
 public:
  Tail(const CoupledChain& chain, const ChainOutput& output) {
    const SlopeMoments moments(chain);
    for (std::size_t i = 0; i < kExponents.size(); ++i)
      slopes_[i] = enlarged(output.signal_norm() + moments.of_network(kExponents[i]));
  }

  [[nodiscard]] double square_beyond(double probability) const {
    if (!(probability < 1.0)) return INFINITY;
    const double log_inverse = -std::log(probability) * (1.0 - 1e-12);
    double least = INFINITY;
    for (std::size_t i = 0; i < kExponents.size(); ++i) {
      const double power = std::exp(-(1.0 - 2.0 / kExponents[i]) * log_inverse);
      least = std::min(least, 2.0 / log_inverse * power * slopes_[i] * slopes_[i]);
    }
    return enlarged(least);
  }

 private:
  std::array<double, kExponents.size()> slopes_{};
};

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
double squared_bound(const ClippedCosts& costs, double clip, const Tail& tail, double failure) {
  const double mean = largest_mean(costs.mean, costs.variance, clip, costs.draws, 0.5 * failure);
  const double beyond = largest_probability(costs.beyond, costs.draws, 0.5 * failure);
  const double square = tail.square_beyond(beyond);
  return enlarged(mean + 2.0 * std::sqrt(clip * beyond * square) + square);
}

/// The fewest draws of 2^k 1024 for which the pilot promises a bound close to the coupling, or all.
Index needed_draws(const Vector& pilot, double clip, const Tail& tail, double failure, Index most) {
  for (Index draws = 1024; draws < most; draws *= 2) {
    ClippedCosts promised(pilot, clip);
    promised.beyond = 0;
    promised.draws = draws;
    const double bound = squared_bound(promised, clip, tail, failure);
    if (bound <= kEnough * kEnough * promised.mean) return draws;
  }
  return most;
}

}  // namespace

SimulatedBound simulated_bound(const Network& network, const MomentTrace& trace, double first,
                               std::uint64_t input, const SimulationSettings& settings) {
  SimulatedBound result;
  result.failure_probability = settings.failure_probability;
  if (!is_simulable(trace)) {
    result.gap = kOtherMixture;
    return result;
  }
  const CoupledChain chain(network, trace);
  const ChainOutput output(chain);
  const Tail tail(chain, output);
  DrawPlan plan{settings.seed, DrawUse::Pilot, input, kPilotDraws};
  const Vector pilot = draw_costs(chain, plan, settings.threads, settings.cancel);
  const double clip = kBeyondPilot * kBeyondPilot * pilot.maxCoeff();
  plan.use = DrawUse::Main;
  plan.draws = needed_draws(pilot, clip, tail, settings.failure_probability, settings.draws);
  // What the generator may have lost of its normals comes out of the probability (F.1).
  const double normals = static_cast<double>(plan.draws) * static_cast<double>(chain.normal_count());
  const double failure = settings.failure_probability - enlarged(normals * kLostProbability);
  if (!(failure > 0.0)) {
    result.gap = "the failure probability is below what the generator may lose";
    return result;
  }
  const ClippedCosts costs(draw_costs(chain, plan, settings.threads, settings.cancel), clip);
  result.draws = plan.draws;
  result.coupled_cost = std::sqrt(costs.mean);
  result.w2 = enlarged(std::sqrt(squared_bound(costs, clip, tail, failure)) + first +
                       output.distance_to(trace.output.component(0)));
  if (std::isfinite(result.w2)) return result;
  result.w2 = std::numeric_limits<double>::quiet_NaN();
  result.gap = "there are too few draws for the tail of this network";
  return result;
}

SimulationService simulation_service(const CancelFlag* cancel) {
  return [cancel](const Network& network, const MomentTrace* trace, double first, Index input,
                  const Options& options) {
    const std::string refusal = simulation_refusal(network);
    require(refusal.empty(),
            "option --simulate: expected dense layers with independent Gaussian weights, and " + refusal);
    if (trace == nullptr) {
      SimulatedBound none;
      none.failure_probability = options.simulation_failure;
      none.gap = kOtherMixture;
      return none;
    }
    return simulated_bound(network, *trace, first, static_cast<std::uint64_t>(input),
                           {options.draws, options.simulation_failure, options.seed, 1, cancel});
  };
}

}  // namespace mixcert
