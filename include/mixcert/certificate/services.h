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

/// What a coupling of network and mixture can be simulated from: one of these or none.
struct CouplingTrace {
  const MomentTrace* moment = nullptr;  ///< of one input
  const JointTrace* joint = nullptr;    ///< of several inputs jointly
  const Vector* costs = nullptr;        ///< squared costs of draws of a coupling, where it has been drawn
  double beyond_cost = 0.0;             ///< added to the root of their mean

  [[nodiscard]] bool is_empty() const { return moment == nullptr && joint == nullptr && costs == nullptr; }
};

/// Statistics of one result: network, inputs (one column, or all of a joint law), index of the input, the
/// trace where the moment method made the mixture (empty otherwise), the mixture, and the options.
using StatisticsService = std::function<TwoSidedStatistics(
    const Network&, ConstMatrixRef, Index, const CouplingTrace&, const GaussianMixture&, const Options&)>;

/// The same of an ensemble, with one trace per member.
using EnsembleStatisticsService = std::function<TwoSidedStatistics(const Ensemble&, ConstMatrixRef, Index,
                                                                   const std::vector<CouplingTrace>&,
                                                                   const GaussianMixture&, const Options&)>;

/// What simulation leaves: a bound of the result's mixture, and where there is one a mixture that is closer.
/// Both bounds fail together.
struct Simulation {
  struct Closer {
    GaussianMixture mixture;
    double w2 = 0.0;     ///< certified by simulation
    double moved = 0.0;  ///< no less than W2 between it and the result's mixture: formal
  };
  SimulatedBound bound;
  std::optional<Closer> closer;
};

/// What a simulation is asked about: one result.
struct SimulationRequest {
  const Network& network;
  const MomentTrace* trace = nullptr;  ///< the moment method's; null where the result is another method's
  const GaussianMixture& mixture;      ///< the result's
  bool is_own = true;                  ///< is it what the trace leaves?
  double first = 0.0;  ///< no less than what separates the trace's first layer from the true one
  /// The result's formal bound. A mixture that draws choose takes the result's place where its bound by
  /// simulation is at most half of this.
  double formal = 0.0;
  Index input = 0;
  const Options& options;
};

/// A bound certified by simulation of one result. Throws InvalidArgument for networks that
/// docs/theory/simulation.md does not cover.
using SimulationService = std::function<Simulation(const SimulationRequest&)>;

/// What Stein's method makes of W2 of one result, from draws: an estimate, nothing where there is none
/// (F.15).
struct SteinEstimate {
  double w2 = 0.0;
  double error = 0.0;  ///< standard error of the draws
  Index draws = 0;
};

/// A Gaussian of a network whose layers keep their structure, from draws (O.4), or a mixture where masks are
/// enumerated (O.10).
struct CoupledLaw {
  GaussianMixture mixture;
  SimulatedBound bound;                ///< certified by simulation, where options.simulate (O.7)
  Vector costs;                        ///< squared costs of draws: for statistics
  double beyond_cost = 0.0;            ///< what a bound adds to the root of their mean
  std::optional<SteinEstimate> stein;  ///< beside costs (O.9)
};
/// Of a network with options, for any input and its number. Safe to call from several threads at once.
using CoupledMethod = std::function<CoupledLaw(ConstVectorRef input, Index index)>;
using CoupledService = std::function<CoupledMethod(const Network&, const Options&)>;

using SteinService = std::function<std::optional<SteinEstimate>(const SimulationRequest&)>;

/// What simulation can be expected to give, from a few draws that are not used again: an estimate.
struct SimulationForecast {
  double w2 = 0.0;
  Index draws = 0;
  double seconds = 0.0;
};

/// Nothing for networks that are not covered.
using ForecastService = std::function<std::optional<SimulationForecast>(const SimulationRequest&)>;

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
  /// Needed for method coupled: `coupled_service()` of the same target.
  CoupledService coupled;
  /// With it statistics beside a simulated bound have Stein's estimate: `stein_service()`.
  SteinService stein;
  /// With it explain() says what simulation can be expected to give: `forecast_service()`.
  ForecastService forecast;
  /// Set to stop early.
  const CancelFlag* cancel = nullptr;
};

}  // namespace mixcert
