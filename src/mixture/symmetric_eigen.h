// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Eigendecompositions and singular values. Functions and not Eigen's solvers themselves, because their
// templates take seconds to compile wherever they are used. Nothing certified depends on their accuracy.
#pragma once

#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

struct SymmetricEigen {
  Vector values;   ///< increasing
  Matrix vectors;  ///< orthonormal columns
};

/// Reads the lower triangle. Nothing certified depends on its accuracy.
SymmetricEigen symmetric_eigen(ConstMatrixRef matrix);

/// V with V' b V = I and V' a V diagonal, for a definite b; with infinities or NaN where b is not. Nothing
/// certified depends on its accuracy.
Matrix common_directions(ConstMatrixRef a, ConstMatrixRef b);

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

// Leading eigenpairs of structured covariances.

/// Are eigenpairs found by coordinates, blocks or a small dense solve, not by Lanczos?
bool has_cheap_eigenpairs(const Covariance& covariance);

struct Eigenpairs {
  Vector values;   ///< decreasing, nonnegative
  Matrix vectors;  ///< orthonormal columns
};

/// The `count` largest eigenvalues and their eigenvectors: coordinates for a diagonal, block
/// by block without a low-rank part, Lanczos (Spectra) for large matrices, dense otherwise.
/// Nothing certified depends on their accuracy.
Eigenpairs leading_eigenpairs(const Covariance& covariance, Index count);

}  // namespace mixcert
