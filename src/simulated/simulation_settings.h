// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What every certificate by simulation is asked with.
#pragma once

#include <cstdint>

#include "mixcert/core/parallel.h"
#include "simulated/network_paths.h"

namespace mixcert {

struct SimulationSettings {
  Index draws = 100000;  ///< at most
  double failure_probability = 1e-9;
  std::uint64_t seed = 0;
  std::uint64_t input = 0;  ///< its number: inputs have draws of their own
  int threads = 1;
  Index components = 5;  ///< most of a mixture that is fitted to draws; 0: no limit
  const CancelFlag* cancel = nullptr;

  [[nodiscard]] DrawPlan plan(DrawUse use, Index count) const { return {seed, use, input, count}; }
};

/// Draws to choose by; those to conclude from are others.
inline constexpr Index kPilotDraws = 4096;

/// The failure probability that is left to a theorem when the generator may lose one of `normals` numbers
/// (F.1); not above zero: nothing is left.
double failure_left(const SimulationSettings& settings, double normals);

inline constexpr const char* kNothingLeft = "the failure probability is below what the generator may lose";

}  // namespace mixcert
