// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A bound of W2 certified by simulation: it holds but for a stated probability over the program's own draws,
// for every number of draws, docs/theory/simulation.md (F.8), (F.11).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "methods/moment/moment_trace.h"
#include "mixcert/certificate/services.h"
#include "mixcert/core/parallel.h"
#include "mixcert/network/network.h"
#include "simulated/coupled_chain.h"
#include "simulated/known_law.h"
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

inline constexpr const char* kNothingLeft = "the failure probability is below what the generator may lose";

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

/// What is fixed of one output before the draws that (F.11) is applied to: where tails begin, and what slopes
/// say of them.
class LinePlan {
 public:
  /// `chain` has this output alone.
  LinePlan(const CoupledChain& chain, const OutputDraws& pilot, Index draws, double failure);

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
  /// Simulates a pilot. `chain` must outlive this.
  OutputSimulation(const CoupledChain& chain, const SimulationSettings& settings);

  [[nodiscard]] double promised() const { return plan_.promised(); }
  /// To `stored`, or to a mixture that is fitted to the draws where that is closer.
  [[nodiscard]] Simulation bound(const GaussianMixture& stored) const;

 private:
  const CoupledChain& chain_;
  SimulationSettings settings_;
  LinePlan plan_;
};

/// Each output's own mixture and bound from one set of draws (F.14); empty where nothing is left of the
/// failure probability.
std::vector<SimulatedMarginal> simulated_marginals(const SimulationRequest& request,
                                                   const CoupledChain& chain,
                                                   const SimulationSettings& settings);

/// simulation_refusal() of the network must be empty.
Simulation simulated_bound(const SimulationRequest& request, const SimulationSettings& settings);

}  // namespace mixcert
