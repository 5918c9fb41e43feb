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
#include "simulated/draws.h"

namespace mixcert {
namespace {

Simulation no_bound(double failure_probability, const char* gap) {
  Simulation none;
  none.bound.failure_probability = failure_probability;
  none.bound.gap = gap;
  return none;
}

/// Draws of one output are sorted, and so kept, in each thread.
void check_memory(const Options& options) {
  const double gib = 2.0 * sizeof(double) * static_cast<double>(options.draws) *
                     resolve_thread_count(options.threads) / 0x1.0p30;
  if (gib <= options.max_memory_in_gib) return;
  throw ResourceError("--draws " + std::to_string(options.draws) + ": would need " + format_number(gib) +
                      " GiB, more than the limit of " + format_number(options.max_memory_in_gib) +
                      " GiB; take fewer, fewer --threads, or raise --max-memory-in-gib");
}

SimulationSettings settings_of(const Options& options, Index input, const CancelFlag* cancel) {
  return {options.draws,
          options.simulation_failure,
          options.seed,
          static_cast<std::uint64_t>(input),
          1,
          options.components,
          cancel};
}

constexpr const char* kOtherMixture = "the mixture is not the moment method's one Gaussian";

}  // namespace

double failure_left(const SimulationSettings& settings, double normals) {
  return settings.failure_probability - enlarged(normals * kLostProbability);
}

Simulation simulated_bound(const Network& network, const MomentTrace& trace, double first,
                           const SimulationSettings& settings) {
  if (!is_simulable(trace)) return no_bound(settings.failure_probability, kOtherMixture);
  const CoupledChain chain(network, trace);
  const CouplingSimulation coupling(chain, settings);
  // The theorem is chosen by pilots, before the draws that it is applied to.
  std::optional<OutputSimulation> output;
  if (network.outputs() == 1) output.emplace(chain, settings);
  Simulation made;
  if (output && output->promised() < coupling.promised()) {
    made = output->bound(trace.output);
  } else {
    made.bound = coupling.bound(trace.output.component(0));
  }
  made.bound.w2 = enlarged(made.bound.w2 + first);
  if (made.closer) made.closer->w2 = enlarged(made.closer->w2 + first);
  if (std::isfinite(made.bound.w2) || !made.bound.gap.empty()) return made;
  return no_bound(settings.failure_probability, "there are too few draws for the tail of this network");
}

SimulationService simulation_service(const CancelFlag* cancel) {
  return [cancel](const Network& network, const MomentTrace* trace, double first, Index input,
                  const Options& options) {
    const std::string refusal = simulation_refusal(network);
    require(refusal.empty(),
            "option --simulate: expected dense layers with independent Gaussian weights, and " + refusal);
    if (trace == nullptr) return no_bound(options.simulation_failure, kOtherMixture);
    if (network.outputs() == 1) check_memory(options);
    return simulated_bound(network, *trace, first, settings_of(options, input, cancel));
  };
}

ForecastService forecast_service(const CancelFlag* cancel) {
  return [cancel](const Network& network, const MomentTrace* trace, Index input,
                  const Options& options) -> std::optional<SimulationForecast> {
    if (trace == nullptr || !is_simulable(*trace) || !simulation_refusal(network).empty()) return {};
    const CoupledChain chain(network, *trace);
    const SimulationSettings settings = settings_of(options, input, cancel);
    const auto start = std::chrono::steady_clock::now();
    const CouplingSimulation coupling(chain, settings);
    const double pilot = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    SimulationForecast forecast{coupling.promised(), coupling.draws(), 0.0};
    if (network.outputs() == 1) {
      const OutputSimulation output(chain, settings);
      if (output.promised() < forecast.w2) forecast = {output.promised(), settings.draws, 0.0};
    }
    // The pilots' own draws come first.
    forecast.seconds = pilot * (2.0 + static_cast<double>(forecast.draws) / static_cast<double>(kPilotDraws));
    return forecast;
  };
}

}  // namespace mixcert
