// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which theorem, and the service that certify() asks.
#include "simulated/simulated_bound.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/simulated/simulation_service.h"
#include "simulated/box_muller.h"
#include "simulated/simulated_moments.h"
#include "simulated/stein/stein_estimate.h"

namespace mixcert {
namespace {

Simulation no_bound(double failure_probability, const char* gap) {
  Simulation none;
  none.bound.failure_probability = failure_probability;
  none.bound.gap = gap;
  return none;
}

/// Draws of outputs are sorted, and so kept, in each thread.
void check_memory(const Options& options, Index outputs) {
  const double gib = 4.0 * sizeof(double) * static_cast<double>(outputs) *
                     static_cast<double>(options.draws) * resolve_thread_count(options.threads) / 0x1.0p30;
  if (gib <= options.max_memory_in_gib) return;
  throw ResourceError("--draws " + std::to_string(options.draws) + ": would need " + format_number(gib) +
                      " GiB, more than the limit of " + format_number(options.max_memory_in_gib) +
                      " GiB; take fewer, fewer --threads, or raise --max-memory-in-gib");
}

SimulationSettings settings_of(const SimulationRequest& request, const CancelFlag* cancel) {
  const Options& options = request.options;
  return {options.draws,
          options.simulation_failure,
          options.seed,
          static_cast<std::uint64_t>(request.input),
          1,
          options.components,
          cancel};
}

constexpr const char* kOtherMixture = "the mixture is not the moment method's one Gaussian";

/// With one output any mixture will do (F.11).
bool is_covered(const SimulationRequest& request) {
  return request.trace != nullptr && is_simulable(*request.trace) &&
         (request.is_own || request.network.outputs() == 1);
}

/// A chain with the simulated moments may cost this much more than the moment method's own, and promises may
/// be off by as much.
constexpr double kWorthMoments = 1.05;

/// (F.8) of the chain, or of the one with simulated moments where pilots promise nearly as much.
Simulation coupled_bound(const CoupledChain& chain, const CouplingSimulation& own,
                         const SimulationRequest& request, const SimulationSettings& settings) {
  Simulation made;
  const DrawPlan plan{settings.seed, DrawUse::Pilot, settings.input, kPilotDraws};
  if (const auto better = with_simulated_moments(
          chain, request.mixture, draw_coupled_outputs(chain, plan, settings.threads, settings.cancel))) {
    const CouplingSimulation coupling(better->chain, settings);
    if (coupling.promised() <= kWorthMoments * own.promised() &&
        kWorthMoments * coupling.promised() <= 0.5 * request.formal) {
      made.bound = coupling.bound(better->output.mixture.component(0));
      made.closer = {better->output.mixture, made.bound.w2, better->output.moved.upper};
      made.bound.w2 = enlarged(made.bound.w2 + better->output.moved.upper);
      return made;
    }
  }
  made.bound = own.bound(request.mixture.component(0));
  return made;
}

}  // namespace

double failure_left(const SimulationSettings& settings, double normals) {
  return settings.failure_probability - enlarged(normals * kLostProbability);
}

Simulation simulated_bound(const SimulationRequest& request, const SimulationSettings& settings) {
  const bool is_line = request.network.outputs() == 1;
  if (!is_covered(request)) return no_bound(settings.failure_probability, kOtherMixture);
  const CoupledChain chain(request.network, *request.trace);
  // The theorem is chosen by pilots, before the draws that it is applied to.
  std::optional<CouplingSimulation> coupling;
  std::optional<OutputSimulation> output;
  if (request.is_own) coupling.emplace(chain, settings);
  if (is_line) output.emplace(chain, settings);
  Simulation made;
  if (output && !(coupling && coupling->promised() <= output->promised())) {
    made = output->bound(request.mixture);
  } else {
    made = coupled_bound(chain, *coupling, request, settings);
  }
  made.bound.w2 = enlarged(made.bound.w2 + request.first);
  if (made.closer) made.closer->w2 = enlarged(made.closer->w2 + request.first);
  if (std::isfinite(made.bound.w2) || !made.bound.gap.empty()) return made;
  return no_bound(settings.failure_probability, "there are too few draws for the tail of this network");
}

SimulationService simulation_service(const CancelFlag* cancel) {
  return [cancel](const SimulationRequest& request) {
    const std::string refusal = simulation_refusal(request.network);
    require(refusal.empty(),
            "option --simulate: expected dense layers with independent Gaussian weights, and " + refusal);
    if (request.network.outputs() == 1 || request.options.marginals)
      check_memory(request.options, request.network.outputs());
    SimulationSettings settings = settings_of(request, cancel);
    if (!request.options.marginals) return simulated_bound(request, settings);
    // Half of the failure probability for all outputs together, half for each by itself.
    settings.failure_probability *= 0.5;
    Simulation made = simulated_bound(request, settings);
    made.bound.failure_probability = request.options.simulation_failure;
    if (is_covered(request))
      made.bound.marginals =
          simulated_marginals(request, CoupledChain(request.network, *request.trace), settings);
    return made;
  };
}

SteinService stein_service(const CancelFlag* cancel) {
  return [cancel](const SimulationRequest& request) -> std::optional<SteinEstimate> {
    if (request.trace == nullptr || !simulation_refusal(request.network).empty() ||
        !is_simulable(*request.trace))
      return std::nullopt;
    return stein_estimate(request, CoupledChain(request.network, *request.trace),
                          settings_of(request, cancel));
  };
}

ForecastService forecast_service(const CancelFlag* cancel) {
  return [cancel](const SimulationRequest& request) -> std::optional<SimulationForecast> {
    if (!simulation_refusal(request.network).empty() || !is_covered(request)) return {};
    const CoupledChain chain(request.network, *request.trace);
    const SimulationSettings settings = settings_of(request, cancel);
    const auto start = std::chrono::steady_clock::now();
    const CouplingSimulation coupling(chain, settings);
    const double pilot = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    SimulationForecast forecast{coupling.promised(), coupling.draws(), 0.0};
    if (request.network.outputs() == 1) {
      const OutputSimulation output(chain, settings);
      if (!request.is_own || output.promised() < forecast.w2)
        forecast = {output.promised(), settings.draws, 0.0};
    }
    // The pilots' own draws come first.
    forecast.seconds = pilot * (2.0 + static_cast<double>(forecast.draws) / static_cast<double>(kPilotDraws));
    return forecast;
  };
}

}  // namespace mixcert
