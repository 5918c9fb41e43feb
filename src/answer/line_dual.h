// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What answers on the line share: squares of intervals, projections of mixtures (U.8), and the dual bound
// (U.4).
#pragma once

#include <algorithm>
#include <vector>

#include "mixcert/answer/certified_law.h"
#include "mixcert/core/rounding.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

inline Interval squared(const Interval& norm) {
  const double lower = positive_part(norm.lower);
  return {norm.estimate * norm.estimate, positive_part(next_down(lower * lower)),
          next_up(norm.upper * norm.upper)};
}

// Where mixtures in many dimensions meet the line, and what rounding costs there (U.8).

/// At most this much below zero is an eigenvalue of a stored covariance; the law meant is that of its
/// positive part (docs/theory/rounding.md). Zero for a diagonal with a low-rank part.
double negative_part(const Covariance& covariance);

struct Projection {
  LineMixture line;
  double error = 0.0;  ///< no less than W2 between `line` and the exact law
};

/// The law of direction'y, in work that grows with the nonzero entries of the direction.
Projection project(const GaussianMixture& mixture, ConstVectorRef direction);

// The dual bound (U.4). Every set we need is made of half-lines, so that one function of a mixture is enough
// (U.5):
//     soft tail  E_q (1 - (d/h)^k)_+,   d = (t - y)_+ the distance to {y >= t},   k = 1 or 2.

enum class TransportOrder { One = 1, Two = 2 };

/// The soft tail, rounded up; P(y >= threshold) at width 0.
double soft_tail_upper(const LineMixture& line, double threshold, double width, TransportOrder order);

/// About E_q[(d/h)^k; d <= h], what it costs to move all that lies within the width.
double moved_share(const LineMixture& line, double threshold, double width, TransportOrder order);

/// {y >= threshold} under `line`.
struct HalfLine {
  const LineMixture* line;
  double threshold;
};

struct DualBound {
  double value = 1.0;
  double width = 0.0;  ///< the smoothing width that gave it; 0 where none is used
};

/// No less than P_p(A) for every p within w2 and w1 of the line, A the closed set with
///     (1 - (d(y, A)/h)^k)_+ <= offset + sum of the soft tails' integrands of `sides`:
/// one half-line, the union of two (offset 0), or the intersection of two that overlap (offset -1).
DualBound dual_bound(const std::vector<HalfLine>& sides, double offset, double w2, double w1);

}  // namespace mixcert
