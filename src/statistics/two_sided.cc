// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statistics of a result: (C.2) below, (C.3) and (C.4) above.
#include "mixcert/statistics/two_sided.h"

#include <cmath>
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/simulate/comparison.h"
#include "mixcert/simulate/simulate.h"
#include "mixcert/statistics/coupled_simulation.h"

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

}  // namespace

TwoSidedStatistics two_sided_statistics(const Network& network, ConstMatrixRef inputs, Index input_index,
                                        const MomentTrace* trace, const GaussianMixture& mixture,
                                        const Options& options, const CancelFlag* cancel) {
  check_memory(mixture.dimension(), options);
  const SimulationOptions simulation{options.statistics, options.seed, 1, cancel};
  TwoSidedStatistics statistics;
  statistics.samples = options.statistics;
  statistics.failure_probability = options.failure_probability;
  const Matrix samples = options.joint ? simulate_joint(network, inputs, simulation)
                                       : simulate(network, inputs.col(0), input_index, simulation);
  const GelbrichLowerBound lower =
      gelbrich_lower_bound(samples, mixture, options.seed, static_cast<std::uint64_t>(input_index));
  statistics.w2_lower = lower.lower;
  statistics.lower_confidence = lower.confidence;
  statistics.assumption = "asymptotic: finite fourth moments";
  if (trace == nullptr) return statistics;
  const CoupledSamples coupled = simulate_coupled(network, inputs.col(0), input_index, *trace, simulation);
  statistics.w2_upper = coupled_distance(coupled, options.failure_probability).w2_upper;
  statistics.coupled_cost = std::sqrt((coupled.network - coupled.surrogate).colwise().squaredNorm().mean());
  return statistics;
}

StatisticsService statistics_service(const CancelFlag* cancel) {
  return [cancel](const Network& network, ConstMatrixRef inputs, Index input_index, const MomentTrace* trace,
                  const GaussianMixture& mixture, const Options& options) {
    return two_sided_statistics(network, inputs, input_index, trace, mixture, options, cancel);
  };
}

}  // namespace mixcert
