// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An upper bound, in the Loewner order, of the inverse of a positive definite matrix (J.7).
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

/// T^{-1} <= factor * root' root.
struct ProvenInverse {
  bool proven = false;  ///< else nothing is known, not even that T is semidefinite
  Matrix root;
  double factor = 1.0;
};

/// `least` is a guess of the smallest eigenvalue, from below; positive.
ProvenInverse proven_inverse(const Matrix& t, double least);

}  // namespace mixcert
