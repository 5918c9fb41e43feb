// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Leading eigenpairs of structured covariances.
#pragma once

#include "mixcert/mixture/covariance.h"

namespace mixcert {

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
