// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of one output by itself, from its order statistics: docs/theory/simulation.md (F.11), (F.14).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mixcert/certificate/services.h"
#include "simulated/line/known_law.h"
#include "simulated/simulation_settings.h"
#include "simulated/slope_moments.h"

namespace mixcert {

/// What (F.11) asks of a network. Network and trace must outlive this.
struct OutputSource {
  std::function<std::vector<OutputDraws>(const DrawPlan&)> draw;  ///< of each output
  std::function<SlopeTail(Index)> tail;                           ///< of an output
  Index outputs = 1;
  Index normals = 0;         ///< of one draw
  const char* theorem = "";  ///< that bounds the slopes
};

/// Of layers with independent weights, at any depth (F.11).
OutputSource chain_source(const Network& network, const MomentTrace& trace,
                          const SimulationSettings& settings);
/// Of one hidden layer, whatever the covariances of weights (F.17).
OutputSource correlated_source(const Network& network, const MomentTrace& trace,
                               const SimulationSettings& settings);

/// What is fixed of one output before the draws that (F.11) is applied to: where tails begin, and what slopes
/// say of them.
class LinePlan {
 public:
  LinePlan(SlopeTail tail, const OutputDraws& pilot, Index draws, double failure);

  /// What the bound of a good mixture is expected to be.
  [[nodiscard]] double promised() const { return promised_; }
  /// What draws prove but for `failure`.
  [[nodiscard]] KnownLaw law_of(const OutputDraws& draws, double failure) const;
  /// The output's mean lies in it where what law_of() proves holds, but for `failure` more (F.14).
  struct Range {
    double lower, upper;
  };
  [[nodiscard]] Range mean_of(const OutputDraws& draws, double law_failure, double failure) const;

 private:
  /// Limits of P(y < c_-) and P(y > c_+).
  [[nodiscard]] double probability_below(const OutputDraws& draws, double failure) const;
  [[nodiscard]] double probability_above(const OutputDraws& draws, double failure) const;

  SlopeTail tail_;
  double lower_ = 0.0, upper_ = 0.0;  ///< c_-, c_+
  double promised_ = 0.0;
};

/// Of a mixture, and of one that is fitted to the draws where that is closer.
struct LineBound {
  double w2 = 0.0;
  std::optional<Simulation::Closer> closer;
};
LineBound bound_on_line(const KnownLaw& law, const OutputDraws& draws, const GaussianMixture& stored,
                        Index components);

/// W2 between the network's one output and a mixture, from order statistics (F.11).
class OutputSimulation {
 public:
  /// Simulates a pilot.
  OutputSimulation(OutputSource source, const SimulationSettings& settings);

  [[nodiscard]] double promised() const { return plan_.promised(); }
  /// To `stored`, or to a mixture that is fitted to the draws where that is closer.
  [[nodiscard]] Simulation bound(const GaussianMixture& stored) const;

 private:
  OutputSource source_;
  SimulationSettings settings_;
  LinePlan plan_;
};

/// Each output's own mixture and bound from one set of draws (F.14); empty where nothing is left of the
/// failure probability. `together` is no less than W2 between the request's mixture and the network.
std::vector<SimulatedMarginal> simulated_marginals(const SimulationRequest& request,
                                                   const OutputSource& source,
                                                   const SimulationSettings& settings, double together);

}  // namespace mixcert
