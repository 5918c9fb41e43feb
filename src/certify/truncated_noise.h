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

}  // namespace mixcert
