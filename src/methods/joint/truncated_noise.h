// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A layer's noise over several inputs, compared with a constant one after a truncation (J.8): inverting E S
// counts every direction as much as the largest, and over many inputs most directions carry next to nothing.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

/// One output's noise over D inputs: E S and how S varies (J.5).
struct NoiseSpread {
  Matrix mean;          ///< E S_l as computed
  double mean_error;    ///< Frobenius
  Matrix spread;        ///< sum_j U_lj H_j
  double spread_error;  ///< Frobenius
};

struct TruncatedBlock {
  Matrix block;  ///< T_l, positive definite
  double cost;   ///< infinite where nothing was proven
};

/// The number of inverted directions with the least cost. The others keep their variance in T_l.
TruncatedBlock truncated_block(const NoiseSpread& noise);

// An upper bound, in the Loewner order, of the inverse of a positive definite matrix (J.7).

/// T^{-1} <= factor * root' root.
struct ProvenInverse {
  bool proven = false;  ///< else nothing is known, not even that T is semidefinite
  Matrix root;
  double factor = 1.0;
};

/// `least` is a guess of the smallest eigenvalue, from below; positive.
ProvenInverse proven_inverse(const Matrix& t, double least);

}  // namespace mixcert
