// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The semidefinite program (M.7) from its dual side, one coordinate after the other. Nothing here is trusted:
// every g is verified by a Cholesky factorisation (M.4) and multiplied by what that asks for.
#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

constexpr int kMostSweeps = 100;
// A sweep that gains a smaller fraction is the last one: it is some ten sweeps away from the start, and the
// value within half a per cent of the optimum.
constexpr double kLeastGain = 1e-6;

/// Columns of length one, the same at every call.
Matrix unit_columns(Index rows, Index columns) {
  Generator generator = make_generator(0, Stream::Metric);
  Matrix u = Matrix::NullaryExpr(rows, columns, [&] { return uniform(generator) - 0.5; });
  u.colwise().normalize();
  return u;
}

/// sum_{j != i} b_ij u_j.
Vector pull_of_others(const Matrix& b, const Matrix& u, Index i) { return u * b.col(i) - b(i, i) * u.col(i); }

/// Turns every u_i where the others pull it, which is where sum_ij b_ij u_i'u_j is largest for the others as
/// they are, and returns that sum, each u_i's part as it was found.
double sweep(const Matrix& b, Matrix& u) {
  double value = 0.0;
  for (Index i = 0; i < b.rows(); ++i) {
    const Vector pull = pull_of_others(b, u, i);
    const double length = pull.norm();
    if (length > 0.0) u.col(i) = pull / length;
    value += length + b(i, i);
  }
  return value;
}

/// About the y with the least sum and diag(y) >= b. The dual program maximises sum_ij b_ij X_ij over
/// semidefinite X with a diagonal of ones; X = U'U with unit columns u_i, in enough dimensions for the
/// maximum not to suffer (Barvinok 1995, Pataki 1998). Where every u_i lies along its pull, b_ii + |pull| is
/// the multiplier of X_ii = 1, that is y_i (Wang, Chang and Kolter, "The mixing method", 2017).
Vector least_diagonal(const Matrix& b) {
  const auto rank = static_cast<Index>(std::ceil(std::sqrt(2.0 * static_cast<double>(b.rows())))) + 1;
  Matrix u = unit_columns(rank, b.rows());
  double value = 0.0;
  for (int count = 0; count < kMostSweeps; ++count) {
    const double last = value;
    value = sweep(b, u);
    if (value - last <= kLeastGain * value) break;
  }
  Vector y = b.diagonal();
  for (Index i = 0; i < b.rows(); ++i) y(i) += pull_of_others(b, u, i).norm();
  return spectral_after_scaling(b, positive_roots(y));
}

Vector solve_semidefinite(const Matrix& a, const Vector& errors) {
  const Vector inverse = inverse_roots(errors);
  const Vector roots = inverse.cwiseInverse();
  const Matrix b = roots.asDiagonal() * a * roots.asDiagonal();
  const double scale = b.diagonal().maxCoeff();
  if (!(scale > 0.0)) return a.diagonal();
  const Vector g = scale * least_diagonal(b / scale).cwiseProduct(inverse.cwiseAbs2());
  return (a.diagonal().array() > 0.0).select(g, 0.0);
}

MetricGradient no_gradient(const Matrix&, const Vector&, const Vector&) {
  throw InvalidArgument("sensitivity: the semidefinite program has no derivatives; expected closed forms");
}

}  // namespace

MetricForm semidefinite_form() { return {"sdp", solve_semidefinite, no_gradient}; }

}  // namespace mixcert
