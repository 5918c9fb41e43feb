// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statistics of a result: (C.2) and (C.6) below, (C.3) to (C.5) above.
#include <algorithm>
#include <cmath>
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/coupled_simulation.h"
#include "statistics/mean_bound.h"

namespace mixcert {
namespace {

/// Samples of the network, and of both sides of the coupling.
void check_memory(Index rows, const Options& options) {
  const double gib =
      3.0 * sizeof(double) * static_cast<double>(rows) * static_cast<double>(options.statistics) / 0x1.0p30;
  if (gib <= options.max_memory_in_gib) return;
  throw ResourceError("--statistics " + std::to_string(options.statistics) + ": would need " +
                      format_number(gib) + " GiB, more than the limit of " +
                      format_number(options.max_memory_in_gib) +
                      " GiB; take fewer or raise --max-memory-in-gib");
}

/// The lower half, from samples of what the mixture stands for.
TwoSidedStatistics lower_statistics(const Matrix& samples, const GaussianMixture& mixture, Index input_index,
                                    const Options& options) {
  TwoSidedStatistics statistics;
  statistics.samples = options.statistics;
  statistics.failure_probability = options.failure_probability;
  const GelbrichLowerBound lower =
      gelbrich_lower_bound(samples, mixture, options.seed, static_cast<std::uint64_t>(input_index));
  statistics.w2_lower_statistical = lower.lower;
  statistics.lower_confidence = lower.confidence;
  statistics.assumption = "asymptotic: finite fourth moments";
  return statistics;
}

/// The dual bound where it is larger; both have to hold then.
void raise_lower_bound(const Network& network, ConstVectorRef input, const GaussianMixture& mixture,
                       const Matrix& samples, TwoSidedStatistics& statistics) {
  const std::optional<DualLowerBound> dual = dual_lower_bound(network, input, mixture, samples);
  if (!dual) return;
  statistics.w2_lower_statistical = std::max(statistics.w2_lower_statistical, dual->lower);
  statistics.lower_confidence += dual->confidence - 1.0;
}

/// Squares of the upper bound and of the cost it was estimated from.
struct SquaredCosts {
  double upper = 0.0;
  double mean = 0.0;
};

SquaredCosts coupled_costs(const Network& network, ConstMatrixRef inputs, Index input_index,
                           const CouplingTrace& trace, const SimulationOptions& simulation,
                           double failure_probability) {
  const CoupledSamples coupled = simulate_coupled(network, inputs, input_index, trace, simulation);
  return {coupled_distance(coupled, failure_probability).square.upper,
          (coupled.network - coupled.surrogate).colwise().squaredNorm().mean()};
}

}  // namespace

TwoSidedStatistics two_sided_statistics(const Network& network, ConstMatrixRef inputs, Index input_index,
                                        const CouplingTrace& trace, const GaussianMixture& mixture,
                                        const Options& options, const CancelFlag* cancel) {
  check_memory(mixture.dimension(), options);
  const SimulationOptions simulation{options.statistics, options.seed, options.joint ? options.threads : 1,
                                     cancel};
  const Matrix samples = options.joint ? simulate_joint(network, inputs, simulation)
                                       : simulate(network, inputs.col(0), input_index, simulation);
  TwoSidedStatistics statistics = lower_statistics(samples, mixture, input_index, options);
  if (trace.costs != nullptr) {
    statistics.w2_upper_statistical =
        std::sqrt(mean_upper_bound(*trace.costs, options.failure_probability).upper) + trace.beyond_cost;
    statistics.coupled_cost = std::sqrt(trace.costs->mean()) + trace.beyond_cost;
    return statistics;
  }
  if (!options.joint) raise_lower_bound(network, inputs.col(0), mixture, samples, statistics);
  if (trace.is_empty()) return statistics;
  const SquaredCosts costs =
      coupled_costs(network, inputs, input_index, trace, simulation, options.failure_probability);
  statistics.w2_upper_statistical = std::sqrt(costs.upper);
  statistics.coupled_cost = std::sqrt(costs.mean);
  return statistics;
}

TwoSidedStatistics two_sided_statistics(const Ensemble& ensemble, ConstMatrixRef inputs, Index input_index,
                                        const std::vector<CouplingTrace>& traces,
                                        const GaussianMixture& mixture, const Options& options,
                                        const CancelFlag* cancel) {
  check_memory(mixture.dimension(), options);
  require(static_cast<Index>(traces.size()) == ensemble.size(),
          "two_sided_statistics: expected one trace per network");
  const SimulationOptions simulation{options.statistics, options.seed, options.joint ? options.threads : 1,
                                     cancel};
  const Matrix samples = options.joint ? simulate_joint(ensemble, inputs, simulation)
                                       : simulate(ensemble, inputs.col(0), input_index, simulation);
  TwoSidedStatistics statistics = lower_statistics(samples, mixture, input_index, options);
  if (std::any_of(traces.begin(), traces.end(), [](const CouplingTrace& t) { return t.is_empty(); })) {
    return statistics;
  }
  SquaredCosts total;
  for (Index i = 0; i < ensemble.size(); ++i) {
    SimulationOptions own = simulation;
    own.seed = member_seed(options.seed, i);
    const SquaredCosts costs =
        coupled_costs(ensemble.member(i), inputs, input_index, traces[static_cast<std::size_t>(i)], own,
                      options.failure_probability / static_cast<double>(ensemble.size()));
    total.upper += ensemble.weights()(i) * costs.upper;
    total.mean += ensemble.weights()(i) * costs.mean;
  }
  statistics.w2_upper_statistical = std::sqrt(total.upper);
  statistics.coupled_cost = std::sqrt(total.mean);
  return statistics;
}

StatisticsService statistics_service(const CancelFlag* cancel) {
  return [cancel](const Network& network, ConstMatrixRef inputs, Index input_index,
                  const CouplingTrace& trace, const GaussianMixture& mixture, const Options& options) {
    return two_sided_statistics(network, inputs, input_index, trace, mixture, options, cancel);
  };
}

EnsembleStatisticsService ensemble_statistics_service(const CancelFlag* cancel) {
  return [cancel](const Ensemble& ensemble, ConstMatrixRef inputs, Index input_index,
                  const std::vector<CouplingTrace>& traces, const GaussianMixture& mixture,
                  const Options& options) {
    return two_sided_statistics(ensemble, inputs, input_index, traces, mixture, options, cancel);
  };
}

}  // namespace mixcert
