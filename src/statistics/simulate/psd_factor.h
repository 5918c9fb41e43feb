// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Square roots of covariances for drawing from them; singular ones are normal input.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

/// L with L L' = `matrix` (symmetric positive semidefinite, lower triangle read): the
/// Cholesky factor where it exists, otherwise the eigenvectors scaled by the square roots
/// of the eigenvalues, those below zero by rounding taken as zero.
Matrix psd_factor(ConstMatrixRef matrix);

}  // namespace mixcert
