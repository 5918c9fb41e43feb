// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How close a Gaussian, or a given mixture, can be to a sum of independent dropout masks at all: proven lower
// bounds in floating point, docs/theory/mask-sums.md (D.9). The sum has no Gaussian part.
#pragma once

#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "network/mask_sums/mask_sum_distance.h"

namespace mixcert {

struct MaskLowerSettings {
  /// About how many operations each of the two ways of (D.9) may take, and the eigenvalues of a mixture; what
  /// would take more is left out. The default is some ten milliseconds.
  double most_operations = 2e7;
  /// Points of a lattice.
  Index most_points = Index{1} << 14U;
};

/// No less than -p log p - (1-p) log(1-p), 0 < p < 1.
double mask_entropy(double rate);

/// No more than W2 between sum_j c_j Y_j and any Gaussian whatever, numbers taken as they stand. Zero where
/// nothing is proven.
double nearest_gaussian_distance(const std::vector<MaskGroup>& masks, const MaskLowerSettings& settings = {});

/// No more than W2 between the mixture and any law on finitely many points of at most this entropy (in nats):
/// nothing else is asked of it. Zero where nothing is proven.
double mixture_lower_bound(const GaussianMixture& mixture, double entropy,
                           const MaskLowerSettings& settings = {});

}  // namespace mixcert
