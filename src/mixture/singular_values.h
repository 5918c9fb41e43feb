// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Singular value decomposition. A function and not Eigen's class, because its templates take
// half a minute to compile wherever they are used.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

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
