// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From costs of a coupling to a bound of its mean cost, docs/theory/simulation.md (F.8): a limit for clipped
// costs, and for what lies beyond the clip.
#pragma once

#include "mixcert/core/types.h"
#include "simulated/slope_moments.h"

namespace mixcert {

/// Squared costs, clipped at `clip`: what (F.8) needs of them.
struct ClippedCosts {
  Index draws = 0, beyond = 0;
  double mean = 0.0, variance = 0.0;

  ClippedCosts(const Vector& costs, double clip);
};

/// The mean of the squared costs is at most this but for `failure`.
double mean_cost_bound(const ClippedCosts& costs, double clip, const SlopeTail& tail, double failure);

/// What is fixed before the main draws, from costs of a pilot.
struct CouplingPlan {
  double clip = 0.0;      ///< t^2
  Index draws = 0;        ///< the fewest of 2^k 1024 that promise a bound close to the coupling, or `most`
  double promised = 0.0;  ///< root of what the bound is expected to be

  CouplingPlan(const Vector& pilot, const SlopeTail& tail, Index most, double failure);
};

}  // namespace mixcert
