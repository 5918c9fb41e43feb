// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Products of matrices in floating point with a bound of all that they are off, docs/theory/checking.md
// (I.6): some thirty times as fast as balls, for covariances, whose entries are needed relative to deviations
// only.
#pragma once

#include "ball_matrix.h"

namespace mixcert_check {

/// a b'
BallMatrix rounded_product(const BallMatrix& a, const BallMatrix& b);

}  // namespace mixcert_check
