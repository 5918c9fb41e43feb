// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of the gain tr sqrt(X) - sum_i sqrt(x_i), X = diag(x) + Y Y' (T.3), (Z.24).
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

struct TraceSqrtGradient {
  /// In the diagonal blocks of X, stacked, where Y keeps its value and diag(x) may become any symmetric
  /// block.
  Matrix blocks;
  Matrix columns;  ///< in Y
};

/// x >= 0; Y = `all_columns`, of which those that the value uses have derivatives.
TraceSqrtGradient trace_sqrt_gradient(ConstVectorRef x, ConstMatrixRef all_columns, Index block_size);

}  // namespace mixcert
