// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The one-dimensional parts of the naive oracle: quantizers of N(0,1) by Lloyd's iteration and
// activation functions with their mean-square change across a cell, from their definitions.
#pragma once

#include "mixcert/activation/activation.h"
#include "mixcert/core/types.h"
#include "support/naive_activations.h"

namespace mixcert::testing {

struct NaiveQuantizer {
  Vector locations;
  Vector boundaries;
  Vector masses;
  double distortion = 0.0;
  double mean_distance = 0.0;
};

/// Centroids found by Lloyd's iteration (small sizes only), or the paper's uniform grid. Cached;
/// not for several threads.
const NaiveQuantizer& naive_quantizer(Index size, bool uniform_grid);

/// sup |f'| over [lower, upper]; ends may be infinite (A.2).
double naive_max_slope(const Activation& activation, double lower, double upper);
/// sup |f'| over the real line (A.1).
double naive_lipschitz(const Activation& activation);
/// Upper bound (A.3) of E[(f(m + s x) - f(m + s center))^2; lower < x <= upper].
double naive_mean_square_change(const Activation& activation, double mean, double deviation, double center,
                                double lower, double upper);

}  // namespace mixcert::testing
