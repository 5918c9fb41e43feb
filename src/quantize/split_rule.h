// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Splitting: N(0,1) replaced by a mixture of N narrower normals of one common width, with a proven
// W2 error, from a table computed once (tools/split_table.cc). A Dirac quantizer is the case of
// width zero; positive widths hide the gaps between the centers and cost far less.
// Theory: docs/theory/splitting.md, (P.1) to (P.4).
#pragma once

#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// Replaces N(0,1) by sum_i weights_i N(centers_i, width^2): symmetric, zero mean.
struct SplitRule {
  Vector weights;      ///< positive, weights(i) = weights(n-1-i) exactly; sum to one to rounding (P.4)
  Vector centers;      ///< increasing, centers(i) = -centers(n-1-i) exactly
  double width = 1.0;  ///< h in (0,1)
  double error = 0.0;  ///< no less than W2(N(0,1), the mixture with weights divided by their sum), (P.2)

  [[nodiscard]] Index size() const { return weights.size(); }
};

/// All rules, ordered by size, then by falling width. Built on first use; safe to call from several threads.
const std::vector<SplitRule>& split_rules();

}  // namespace mixcert
