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

// Singular value decomposition. A function and not Eigen's class, because its templates take
// half a minute to compile wherever they are used.

/// The matrix is left * D * right', D having its shape and the values on its diagonal.
struct SingularValues {
  Matrix left;    ///< orthogonal
  Vector values;  ///< decreasing
  Matrix right;   ///< orthogonal
};

/// Nothing certified depends on its accuracy.
SingularValues singular_values(const Matrix& matrix);

/// The sum of the singular values alone, by Jacobi rotations: slow, and accurate to a few units per rotation.
double trace_norm(const Matrix& matrix);

}  // namespace mixcert
