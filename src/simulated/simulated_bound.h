// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A bound of W2 certified by simulation: it holds but for a stated probability over the program's own draws,
// for every number of draws, docs/theory/simulation.md (F.8), (F.11).
#pragma once

#include <cstdint>

#include "methods/moment/moment_trace.h"
#include "mixcert/certificate/services.h"
#include "mixcert/core/parallel.h"
#include "mixcert/network/network.h"
#include "simulated/coupled_chain.h"
#include "simulated/slope_moments.h"

namespace mixcert {

struct SimulationSettings {
  Index draws = 100000;  ///< at most
  double failure_probability = 1e-9;
  std::uint64_t seed = 0;
  std::uint64_t input = 0;  ///< its number: inputs have draws of their own
  int threads = 1;
  Index components = 5;  ///< most of a mixture that is fitted to draws; 0: no limit
  const CancelFlag* cancel = nullptr;
};

/// Draws to choose by; those to conclude from are others.
inline constexpr Index kPilotDraws = 4096;

/// The failure probability that is left to a theorem when the generator may lose one of `normals` numbers
/// (F.1); not above zero: nothing is left.
double failure_left(const SimulationSettings& settings, double normals);

/// W2 between network and chain from the cost of coupling them (F.8).
class CouplingSimulation {
 public:
  /// Simulates a pilot. `chain` must outlive this.
  CouplingSimulation(const CoupledChain& chain, const SimulationSettings& settings);

  /// What bound() is expected to be, and how many draws it takes.
  [[nodiscard]] double promised() const { return promised_; }
  [[nodiscard]] Index draws() const { return draws_; }
  /// To `stored`; NaN where nothing is proven.
  [[nodiscard]] SimulatedBound bound(const Gaussian& stored) const;

 private:
  const CoupledChain& chain_;
  SimulationSettings settings_;
  ChainOutput output_;
  SlopeTail tail_;
  double clip_ = 0.0;  ///< t^2
  Index draws_ = 0;
  double promised_ = 0.0;
};

/// W2 between the network's one output and a mixture, from order statistics (F.11).
class OutputSimulation {
 public:
  /// Simulates a pilot. `chain` must outlive this.
  OutputSimulation(const CoupledChain& chain, const SimulationSettings& settings);

  [[nodiscard]] double promised() const { return promised_; }
  /// To `stored`, or to a mixture that is fitted to the draws where that is closer.
  [[nodiscard]] Simulation bound(const GaussianMixture& stored) const;

 private:
  const CoupledChain& chain_;
  SimulationSettings settings_;
  SlopeTail tail_;
  double lower_ = 0.0, upper_ = 0.0;  ///< c_-, c_+
  double promised_ = 0.0;
};

/// `trace` is the moment method's for this network and input, its output the Gaussian; `first` bounds what
/// separates the network from one whose first pre-activations have the trace's law exactly (the certificate's
/// first term). simulation_refusal() of the network must be empty.
Simulation simulated_bound(const Network& network, const MomentTrace& trace, double first,
                           const SimulationSettings& settings);

}  // namespace mixcert
