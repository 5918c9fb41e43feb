// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of sum_j size_j B_j on the line, B_j independent zeros and ones, on a lattice: (D.9 i) of
// docs/theory/mask-sums.md. All masses are sums of products of positive numbers, found by one shift and
// addition for each mask.
//
// theorems/output_law/lattice_law.h has a lattice of its own, for distances to mixtures (D.7). They share
// that shift and addition and nothing else: there one rate, steps that are powers of two so that every size
// has the same digits, tails from both ends, and masses below 1e-42 that are left out; here a rate for each
// mask, and relative errors of all masses, which lower bounds and means of roots count on.
#pragma once

#include <optional>

#include "mixcert/core/types.h"

namespace mixcert {

/// The sum with sizes rounded to multiples of `step`, moved to the same mean: it takes the values
/// first + k step.
struct MaskLattice {
  double first = 0.0, step = 0.0;
  double first_error = 0.0;  ///< what `first` is off by, at most
  Vector masses;             ///< P_k, off by at most `relative` P_k and 1e-280
  double relative = 0.0;
  double variance = 0.0;  ///< no more than that of k
  double moved = 0.0;     ///< no less than W2 to the sum itself
};

/// B_j is one with probability `rare(j)`, at most 1/2 and taken as it stands: 1 - p would not be exact for
/// small p. At most `most` points. Nothing where all sizes are zero, where their sum is not finite, or where
/// the masks are so many that half of the points would be needed for rounding them.
std::optional<MaskLattice> mask_lattice(const Vector& sizes, const Vector& rare, Index most);

/// No less than sup E[k g] over couplings of the lattice's k with a standard normal g.
double normal_correlation(const MaskLattice& lattice);

/// No more than W2 between the sum itself and the Gaussian that is nearest to it.
double nearest_gaussian(const MaskLattice& lattice);

}  // namespace mixcert
