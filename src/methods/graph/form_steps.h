// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Single steps of forms that are carried backwards, docs/theory/graphs.md (O.12), (O.13), (O.17), with their
// rounding (O.16): stored results are no less than exact ones of stored arguments.
#pragma once

#include <vector>

#include "methods/graph/pair_rounds.h"
#include "network/graph/affine_operator.h"

namespace mixcert {

/// No less than the largest eigenvalue of a stored matrix, verified (M.4).
double verified_largest(const Matrix& a);

/// Added to every form, and to its multiples of the identity: far above what underflow can hide in one whose
/// factors are below one. Forms are squares: three layers that shrink by 1e-55 are below all doubles, and
/// what arrives in front of them need not be small.
inline constexpr double kFormFloor = 1e-290;
/// What squares of roots of subnormal variances can lose, all that a sum has together.
inline constexpr double kLostVariance = 0x1.0p-1020;

/// Raises the diagonal by `error`, a bound of the norm of what rounding changed, and by kFormFloor.
void raise(Matrix& a, double error);

/// (1 + t) and (1 + 1/t) `rest`, t for errors that have these squares (O.13).
struct Split {
  double share = 1.0, multiple = 0.0;
};
Split split_of(double by_matrix, double by_rest, double rest);

/// M' Q M + E V' Q V, no less than the exact one in the Loewner order, for a positive semidefinite Q.
Matrix pulled_back(const AffineOperator& layer, const Matrix& q);

/// P' A P, P the mean of each pair, no less than the exact one, for a positive semidefinite A.
Matrix halves_of(const Matrix& a, const std::vector<ValuePair>& pairs, Index size);

}  // namespace mixcert
