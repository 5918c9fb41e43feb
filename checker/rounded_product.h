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

/// How products of covariances are made. What doubles are off is too much where covariances are close to
/// singular ones, whose roots it moves by its own root: then in balls.
enum class Products { Rounded, Exact };

/// a b'
BallMatrix product(const BallMatrix& a, const BallMatrix& b, Products how);

}  // namespace mixcert_check
