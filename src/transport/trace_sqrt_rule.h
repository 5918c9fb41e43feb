// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Nodes and weights of the trapezoidal rule of (T.3), and the columns it uses: shared by the value and its
// derivatives, which must be those of the same sum.
#pragma once

#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

/// gain ~ sum_i weights_i tr[(I + S1(t_i))^{-1} S2(t_i)]; no nodes where Y is zero.
struct TraceSqrtRule {
  std::vector<Index> columns;  ///< of Y that count
  Vector nodes;                ///< t
  Vector weights;
};

TraceSqrtRule trace_sqrt_rule(ConstVectorRef x, ConstMatrixRef y);

}  // namespace mixcert
