// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The properties every certificate of the moment method must have, checked on one random network after
// another. The quick and the heavy test differ in numbers only.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/network/network.h"

namespace mixcert::testing {

/// What was seen over all networks.
struct MomentSummary {
  Index networks = 0;
  Index scalar_outputs = 0;  ///< compared with sorted samples
  double smallest_ratio =
      std::numeric_limits<double>::infinity();  ///< bound / lower bound, where that is > 0
  Index ratios = 0;                             ///< how many lower bounds were > 0
  double smallest_coupled = std::numeric_limits<double>::infinity();  ///< bound / cost of its own coupling
  double largest_share = 0.0;                                         ///< value / nominal - 1
  Index largest_share_case = 0;
  std::vector<double> gains;  ///< bound of signatures / bound of moments
};

/// A network, an input, and how far its laws may be split.
struct MomentCase {
  Network network;
  Vector input;
  Index pieces = 1;
};

/// Number `index` of an endless list: 1..4 hidden layers of widths 1..12, weight deviations up to 2, all
/// activations, any first layer, deterministic layers, zero variances, saturated, dead and constant neurons.
MomentCase moment_case(std::uint64_t index);

struct CoupledCost {
  double mean_square = 0.0;
  double standard_error = 0.0;
};

/// E|y - y^|^2 of the coupling that proves (H.3) and (H.4), simulated for one Gaussian that is never split:
/// true network and surrogate from the same first layer and the same noise in every layer. No more than the
/// square of the unsplit bound: (S(a)^{1/2} - S(a^)^{1/2})^2 <= sum_j V_j (a_j - a^_j)^2 carries the coupling
/// through later layers as (M.1) does.
CoupledCost coupled_cost(const Network& network, const Vector& input, Index samples, std::uint64_t seed);

/// All properties of one case, by `samples` samples.
void check_moment_case(const MomentCase& tested, Index samples, MomentSummary& summary);

/// The first `networks` cases (or MIXCERT_PROPERTY_NETWORKS of them), with a summary line at the end; every
/// `many_every`-th network with one output gets 1e6 samples (0: none).
void check_moment_properties(Index networks, Index samples, Index many_every);

}  // namespace mixcert::testing
