// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What independent draws prove about a probability and about a mean, for every number of draws:
// docs/theory/simulation.md (F.2).
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

/// With probability 1 - failure over the draws the mean of a variable in [0, 1] is at most this, from its
/// sample mean: Chernoff's inequality for bounded variables (Hoeffding 1963, Theorem 1).
double largest_unit_mean(double mean, Index draws, double failure);

/// With probability 1 - failure over the draws an event that happened in `hits` of `draws` has at most, or at
/// least, this probability: Chernoff's inequality, a little wider than Clopper and Pearson's limits and
/// elementary. 1 and 0 where nothing can be said.
double largest_probability(Index hits, Index draws, double failure);
double smallest_probability(Index hits, Index draws, double failure);

/// With probability 1 - failure the mean of a variable in [0, range] is at most this, from its sample mean
/// and variance (divisor draws - 1) over two draws or more (Maurer and Pontil).
double largest_mean(double mean, double variance, double range, Index draws, double failure);

}  // namespace mixcert
