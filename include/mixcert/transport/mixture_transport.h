// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Optimal transport between discrete laws and between mixtures.
#pragma once

#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

// Optimal transport between finite laws: sorting in one dimension, LEMON's network simplex
// otherwise. Supplies are integers scaled by 2^60 and costs are integers too (with doubles the
// solver does not always end optimal); the plan's marginals are the given weights to rounding,
// and its cost is evaluated with the given costs.

/// Mass moved from source i to target j.
struct PlanEntry {
  Index source = 0;
  Index target = 0;
  double mass = 0.0;
};

struct TransportPlan {
  std::vector<PlanEntry> entries;
  double cost = 0.0;
};

/// min sum_ij plan_ij cost_ij over plans with the given marginals (nonnegative, each
/// summing to one within 1e-9). Throws InvalidArgument on bad weights or costs.
TransportPlan optimal_plan(ConstVectorRef source_weights, ConstVectorRef target_weights, ConstMatrixRef cost);

/// W2 between the empirical laws of two samples; columns of `a` and `b` are points,
/// the same number of each. Sorting when there is one row.
double empirical_wasserstein2(ConstMatrixRef a, ConstMatrixRef b);

// MW2, the Wasserstein-type distance between Gaussian mixtures whose couplings are
// themselves mixtures (Delon and Desolneux 2020): a linear program over Bures costs.

struct MixtureTransport {
  TransportPlan plan;     ///< over components; cost = MW2^2 for the computed costs
  double distance = 0.0;  ///< MW2, an upper bound of W2
};

/// Exact MW2 by network simplex.
MixtureTransport mixture_transport(const GaussianMixture& from, const GaussianMixture& to);

}  // namespace mixcert
