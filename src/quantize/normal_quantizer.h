// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Quantizers of N(0,1): the optimal one for any number of points up to 10,000, and the
// paper's uniform grid with its proven rate. Both with their exact error.
#pragma once

#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

inline constexpr Index kMaxQuantizerSize = 10000;

struct NormalQuantizer {
  Vector locations;          ///< increasing
  Vector boundaries;         ///< size + 1 ends of the Voronoi cells, first -inf, last +inf
  Vector probabilities;      ///< P(Z in cell)
  UpperBound distortion;     ///< E (Z - location)^2 = W2^2, (Q.2)
  UpperBound mean_distance;  ///< E |Z - location| = W1, (Q.4)

  [[nodiscard]] Index size() const { return locations.size(); }
};

/// Locations c with c_i = E[Z | cell i], by Newton's method on these equations; unique, since
/// the density is log-concave (Q.1). Cached; safe to call from several threads. Throws
/// InvalidArgument unless 1 <= size <= kMaxQuantizerSize.
const NormalQuantizer& optimal_quantizer(Index size);

/// The paper's uniform grid: locations 2 sqrt(log N)/N (2i - N - 1). Cached likewise.
const NormalQuantizer& uniform_quantizer(Index size);

/// 4 log N / N^2 + r(N): the paper's proven bound of the uniform grid's distortion.
double uniform_quantizer_rate(Index size);

}  // namespace mixcert
