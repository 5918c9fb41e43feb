// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What certification uses and the core library does not have: its caller hands it in.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/core/parallel.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/transport/mixture_transport.h"

namespace mixcert {

struct MomentTrace;
struct JointTrace;

/// The trace that a coupling of network and mixture can be simulated from: one or none of the two.
struct CouplingTrace {
  const MomentTrace* moment = nullptr;  ///< of one input
  const JointTrace* joint = nullptr;    ///< of several inputs jointly

  [[nodiscard]] bool is_empty() const { return moment == nullptr && joint == nullptr; }
};

/// Statistics of one result: network, inputs (one column, or all of a joint law), index of the input, the
/// trace where the moment method made the mixture (empty otherwise), the mixture, and the options.
using StatisticsService = std::function<TwoSidedStatistics(
    const Network&, ConstMatrixRef, Index, const CouplingTrace&, const GaussianMixture&, const Options&)>;

/// The same of an ensemble, with one trace per member.
using EnsembleStatisticsService = std::function<TwoSidedStatistics(const Ensemble&, ConstMatrixRef, Index,
                                                                   const std::vector<CouplingTrace>&,
                                                                   const GaussianMixture&, const Options&)>;

/// What simulation leaves: a bound of the trace's own mixture, and where there is one a mixture that is
/// closer. Both bounds fail together.
struct Simulation {
  struct Closer {
    GaussianMixture mixture;
    double w2 = 0.0;     ///< certified by simulation
    double moved = 0.0;  ///< no less than W2 between it and the trace's mixture: formal
  };
  SimulatedBound bound;
  std::optional<Closer> closer;
};

/// A bound certified by simulation of one result: network, the moment method's trace (null where the mixture
/// is another's), what bounds the rounding of its first layer, index of the input, and the options. Throws
/// InvalidArgument for networks that docs/theory/simulation.md does not cover.
using SimulationService =
    std::function<Simulation(const Network&, const MomentTrace*, double, Index, const Options&)>;

/// What simulation can be expected to give, from a few draws that are not used again: an estimate.
struct SimulationForecast {
  double w2 = 0.0;
  Index draws = 0;
  double seconds = 0.0;
};

/// Of network, trace, index of the input and options; nothing for networks that are not covered.
using ForecastService = std::function<std::optional<SimulationForecast>(const Network&, const MomentTrace*,
                                                                        Index, const Options&)>;

/// What the numerical library takes from outside.
struct Services {
  /// Optimal coupling of the components of two mixtures, for certificate `paper`; the target
  /// mixcert::transport has it as `mixture_transport`.
  std::function<std::vector<PlanEntry>(const GaussianMixture&, const GaussianMixture&)> mixture_plan;
  /// Needed when options.statistics > 0; the target mixcert::statistics has it as `statistics_service()`.
  StatisticsService statistics;
  /// The same for ensembles of several networks: `ensemble_statistics_service()`.
  EnsembleStatisticsService ensemble_statistics;
  /// Needed when options.simulate; the target mixcert::simulated has it as `simulation_service()`.
  SimulationService simulation;
  /// With it explain() says what simulation can be expected to give: `forecast_service()`.
  ForecastService forecast;
  /// Set to stop early.
  const CancelFlag* cancel = nullptr;
};

}  // namespace mixcert
