// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Method coupled: what belongs to the network is made once, the rest at each input.
#include <algorithm>
#include <cmath>
#include <memory>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/simulated/simulation_service.h"
#include "simulated/graph/graph_coupling.h"
#include "simulated/graph/graph_stein.h"

namespace mixcert {

namespace {

/// Factors, random numbers and cotangents of an input in each thread.
void check_memory(const LayerGraph& graph, const Options& options) {
  double normals = 0.0, widest = 0.0;
  for (Index k = 0; k < graph.size(); ++k) {
    normals += static_cast<double>(graph.node(k).random_count());
    widest = std::max(widest, static_cast<double>(graph.node(k).size));
  }
  const auto outputs = static_cast<double>(graph.outputs()), block = static_cast<double>(block_draws(graph));
  const double numbers =
      normals * (outputs + 2.0 * block) + widest * (4.0 * outputs + 4.0 * block) + 4.0 * outputs * outputs;
  const double gib = sizeof(double) * numbers * resolve_thread_count(options.threads) / 0x1.0p30;
  if (gib <= options.max_memory_in_gib) return;
  throw ResourceError("method coupled: would need " + format_number(gib) + " GiB, more than the limit of " +
                      format_number(options.max_memory_in_gib) +
                      " GiB; take fewer --threads, or raise --max-memory-in-gib");
}

/// Where nothing useful is certified the same simulation is a statistic, asked for or not.
constexpr Index kStatisticDraws = 2000;

Index statistic_draws(const Options& options, const CoupledLaw& law) {
  if (options.statistics > 0 || !options.simulate) return options.statistics;
  const double size = std::sqrt(law.mixture.mean().squaredNorm() + law.mixture.covariance().trace());
  return law.bound.exists() && law.bound.w2 <= size ? 0 : kStatisticDraws;
}

}  // namespace

CoupledService coupled_service(const CancelFlag* cancel) {
  return [cancel](const Network& network, const Options& options) -> CoupledMethod {
    require(network.graph() != nullptr, "coupled_service: expected a network with a graph");
    const LayerGraph& graph = *network.graph();
    check_memory(graph, options);
    const auto norms = options.simulate ? std::make_shared<const GraphNorms>(graph) : nullptr;
    return [&network, &graph, norms, options, cancel](ConstVectorRef input, Index index) {
      // Threads go over inputs.
      const SimulationSettings settings{.draws = options.draws,
                                        .failure_probability = options.simulation_failure,
                                        .seed = options.seed,
                                        .input = static_cast<std::uint64_t>(index),
                                        .threads = 1,
                                        .cancel = cancel};
      const Network::Features features = network.features(input);
      const GraphCoupling coupling(graph, {features.values.col(0), features.errors(0)}, settings,
                                   options.components, norms != nullptr);
      CoupledLaw law{coupling.mixture(), {}, {}, coupling.beyond_cost(), {}};
      law.bound.failure_probability = options.simulation_failure;
      if (norms) law.bound = coupling.bound(*norms);
      if (const Index count = statistic_draws(options, law); count > 0) {
        law.costs = coupling.costs(DrawUse::Statistic, count);
        law.stein = graph_stein_estimate(graph, coupling, settings);
      }
      return law;
    };
  };
}

}  // namespace mixcert
