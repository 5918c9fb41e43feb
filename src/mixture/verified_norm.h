// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Norms of matrices that are proven, not only computed: docs/theory/metrics.md (M.4).
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

/// Smallest tried factor f >= 1 for which f diag(g) - A is proven positive semidefinite, by a
/// floating-point Cholesky factorisation with the shift of (M.4). A has been computed with at
/// most `operation_count` roundings per entry.
double feasibility_factor(ConstVectorRef g, ConstMatrixRef a, Index operation_count);

/// No less than the largest singular value.
double spectral_norm(const Matrix& matrix);
/// Is it proven that no singular value is above `bound`? One factorisation and no eigenvalue.
bool is_norm_at_most(const Matrix& matrix, double bound);

}  // namespace mixcert
