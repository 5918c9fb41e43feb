// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigendecomposition of symmetric matrices. A function and not the solver itself, because the
// solver's templates take seconds to compile wherever they are used.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

struct SymmetricEigen {
  Vector values;   ///< increasing
  Matrix vectors;  ///< orthonormal columns
};

/// Reads the lower triangle. Nothing certified depends on its accuracy.
SymmetricEigen symmetric_eigen(ConstMatrixRef matrix);

/// Is matrix + tolerance * (largest diagonal entry) * I positive definite, as far as a Cholesky
/// factorisation in floating point can tell? The zero matrix is.
bool is_semidefinite(ConstMatrixRef matrix, double tolerance);

}  // namespace mixcert
