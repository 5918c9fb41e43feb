// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The root of a random variance against a constant, docs/theory/moment-method.md (H.2).
#pragma once

#include "ball.h"

namespace mixcert_check {

/// E (S^{1/2} - Sb^{1/2})^2, low <= Sb = E S <= high, by (H.2), S >= least; with `convex` by (Y.27) too, 2 Sb
/// (1 - (1 - v/2)^{1/4}). It is 2 Sb - 2 Sb^{1/2} E S^{1/2}, at most 2 Sb, which is what is left where Sb is
/// too near zero to divide by.
inline Ball root_deviation(const Ball& variance, const Ball& low, const Ball& high, const Ball& least,
                           bool convex) {
  Ball best = Ball(2.0) * positive_part(high);
  const auto offer = [&best](const Ball& bound) {
    if (bound.is_finite()) best = smaller(best, bound);
  };
  const Ball v = variance / square(low);
  offer(variance / square(root(low) + root(least)));
  offer(Ball(2.0) * high * (Ball(1.0) - Ball(1.0) / root(Ball(1.0) + v)));
  const Ball inside = Ball(1.0) - v / 2.0;
  if (convex && inside.is_positive()) offer(Ball(2.0) * high * (Ball(1.0) - root(root(inside))));
  return best;
}

}  // namespace mixcert_check
