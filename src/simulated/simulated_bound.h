// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A bound of W2 certified by simulation: it holds but for a stated probability over the program's own draws,
// for every number of draws, docs/theory/simulation.md (F.8), (F.11).
#pragma once

#include "mixcert/certificate/services.h"
#include "simulated/coupled_chain.h"
#include "simulated/coupling_limit.h"
#include "simulated/simulation_settings.h"
#include "simulated/slope_moments.h"

namespace mixcert {

/// W2 between network and chain from the cost of coupling them (F.8).
class CouplingSimulation {
 public:
  /// Simulates a pilot. `chain` must outlive this.
  CouplingSimulation(const CoupledChain& chain, const SimulationSettings& settings);

  /// What bound() is expected to be, and how many draws it takes.
  [[nodiscard]] double promised() const { return plan_.promised; }
  [[nodiscard]] Index draws() const { return plan_.draws; }
  /// To `stored`; NaN where nothing is proven.
  [[nodiscard]] SimulatedBound bound(const Gaussian& stored) const;

 private:
  const CoupledChain& chain_;
  SimulationSettings settings_;
  ChainOutput output_;
  SlopeTail tail_;
  CouplingPlan plan_;
};

/// Why a network has no certificate by simulation; empty: it has.
std::string simulation_refusal(const Network& network);

/// simulation_refusal() of the network must be empty.
Simulation simulated_bound(const SimulationRequest& request, const SimulationSettings& settings);

}  // namespace mixcert
