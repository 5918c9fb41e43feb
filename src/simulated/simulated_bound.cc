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
#include "simulated/line/output_simulation.h"
#include "simulated/simulated_moments.h"
#include "simulated/stein/stein_estimate.h"

namespace mixcert {
namespace {

Simulation no_bound(double failure_probability, const std::string& gap) {
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
constexpr const char* kCorrelated =
    "weights depend on each other: each output by itself has a bound (--marginals), and so has one sum of "
    "them (--functional)";

bool has_independent_layers(const Network& network) {
  for (Index k = 0; k < network.layer_count(); ++k) {
    if (!network.layer(k).has_independent_outputs()) return false;
  }
  return true;
}

/// Why the coupling has no bound (F.8); empty: it has.
std::string coupling_refusal(const SimulationRequest& request) {
  if (!has_independent_layers(request.network)) return kCorrelated;
  const bool is_one = request.trace != nullptr && is_simulable(*request.trace) && request.is_own;
  return is_one ? "" : kOtherMixture;
}

/// Draws and tails of the outputs, where they have any: the mixture may be any (F.11), (F.17).
std::optional<OutputSource> source_of(const SimulationRequest& request, const SimulationSettings& settings) {
  if (request.trace == nullptr) return std::nullopt;
  if (!has_independent_layers(request.network))
    return correlated_source(request.network, *request.trace, settings);
  if (!is_simulable(*request.trace)) return std::nullopt;
  return chain_source(request.network, *request.trace, settings);
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

std::string simulation_refusal(const Network& network) {
  if (network.hidden_count() == 0) return "the network has no hidden layer, and its law is Gaussian";
  if (network.has_masks()) return "the network has dropout";
  if (network.common_factor_count() > 0) return "layers of the network have a factor in common";
  if (!network.is_gaussian()) return "the network has weights that are not Gaussian";
  if (network.hidden_count() == 1) return "";
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    if (!layer.has_independent_outputs())
      return "weights of layer '" + layer.name() + "' are not independent of each other";
  }
  return "";
}

Simulation simulated_bound(const SimulationRequest& request, const SimulationSettings& settings) {
  // The theorem is chosen by pilots, before the draws that it is applied to.
  const std::string refusal = coupling_refusal(request);
  std::optional<CoupledChain> chain;
  std::optional<CouplingSimulation> coupling;
  std::optional<OutputSimulation> output;
  if (refusal.empty()) {
    chain.emplace(request.network, *request.trace);
    coupling.emplace(*chain, settings);
  }
  if (request.network.outputs() == 1) {
    if (auto source = source_of(request, settings)) output.emplace(std::move(*source), settings);
  }
  if (!coupling && !output) return no_bound(settings.failure_probability, refusal);
  Simulation made;
  if (output && !(coupling && coupling->promised() <= output->promised())) {
    made = output->bound(request.mixture);
  } else {
    made = coupled_bound(*chain, *coupling, request, settings);
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
            "option --simulate: expected dense layers with Gaussian weights, independent "
            "unless there is one hidden layer, and " +
                refusal);
    if (request.network.outputs() == 1 || request.options.marginals)
      check_memory(request.options, request.network.outputs());
    SimulationSettings settings = settings_of(request, cancel);
    if (!request.options.marginals) return simulated_bound(request, settings);
    // Half of the failure probability for all outputs together, half for each by itself.
    settings.failure_probability *= 0.5;
    Simulation made = simulated_bound(request, settings);
    made.bound.failure_probability = request.options.simulation_failure;
    if (const auto source = source_of(request, settings))
      made.bound.marginals =
          simulated_marginals(request, *source, settings, std::fmin(request.formal, made.bound.w2));
    return made;
  };
}

SteinService stein_service(const CancelFlag* cancel) {
  return [cancel](const SimulationRequest& request) -> std::optional<SteinEstimate> {
    if (!simulation_refusal(request.network).empty() || !coupling_refusal(request).empty())
      return std::nullopt;
    return stein_estimate(request, CoupledChain(request.network, *request.trace),
                          settings_of(request, cancel));
  };
}

ForecastService forecast_service(const CancelFlag* cancel) {
  return [cancel](const SimulationRequest& request) -> std::optional<SimulationForecast> {
    if (!simulation_refusal(request.network).empty()) return {};
    const SimulationSettings settings = settings_of(request, cancel);
    const auto start = std::chrono::steady_clock::now();
    SimulationForecast forecast{INFINITY, 0, 0.0};
    double pilots = 0.0;
    if (coupling_refusal(request).empty()) {
      const CoupledChain chain(request.network, *request.trace);
      const CouplingSimulation coupling(chain, settings);
      forecast = {coupling.promised(), coupling.draws(), 0.0};
      ++pilots;
    }
    if (request.network.outputs() == 1) {
      if (const auto source = source_of(request, settings)) {
        const OutputSimulation output(*source, settings);
        if (output.promised() < forecast.w2) forecast = {output.promised(), settings.draws, 0.0};
        ++pilots;
      }
    }
    if (!std::isfinite(forecast.w2)) return std::nullopt;
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    forecast.seconds =
        spent + spent / pilots * static_cast<double>(forecast.draws) / static_cast<double>(kPilotDraws);
    return forecast;
  };
}

}  // namespace mixcert
