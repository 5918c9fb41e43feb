// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A law on the line as far as it is known, by its quantiles and by bounds of its tails, and its distance to
// any mixture: docs/theory/simulation.md (F.10).
#pragma once

#include <vector>

#include "simulated/line/quantile_band.h"

namespace mixcert {

/// (E (from - y)_+^2)^{1/2} <= root on the lower side, (E (y - from)_+^2)^{1/2} <= root on the upper one.
struct TailRoot {
  double from, root;
};

struct KnownLaw {
  QuantileBand band;
  std::vector<TailRoot> lower, upper;  ///< all of them hold; none: nothing is known
};

/// A mixture is known but for the distance of its nodes.
KnownLaw known_mixture(const LineLaw& law);

/// No less than W2 between the two; infinite where a tail is not known. It holds for all mixtures at once
/// where what is known of the law holds.
double distance_on_line(const KnownLaw& law, const LineLaw& mixture);

}  // namespace mixcert
