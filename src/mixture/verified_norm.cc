// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "mixture/verified_norm.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {

// Verified Loewner inequalities (M.4): if the floating-point Cholesky factorisation of
// H - c I runs to its end, with c at least gamma_{n+1} tr(H) (Rump 2006) plus the error with
// which H itself was computed, then H is positive semidefinite.

namespace {

/// Rows with a zero diagonal are zero rows of a positive semidefinite A; they are left out.
std::vector<Index> positive_rows(ConstVectorRef g, ConstMatrixRef a) {
  std::vector<Index> rows;
  for (Index i = 0; i < g.size(); ++i) {
    if (a(i, i) > 0.0) rows.push_back(i);
    require(a(i, i) <= 0.0 || g(i) > 0.0, "feasibility: a metric is zero where sensitivity is not");
  }
  return rows;
}

/// Is factor * I - S A S proven positive semidefinite, S = diag(g)^{-1/2}?
bool is_feasible(double factor, const Matrix& scaled, Index operation_count) {
  const Index n = scaled.rows();
  const double trace = factor * static_cast<double>(n);
  const double shift =
      2.0 * (rounding_gamma(n + 2) * trace + rounding_gamma(operation_count + 8) * scaled.trace());
  Matrix h = -scaled;
  h.diagonal().array() += factor - shift;
  return h.llt().info() == Eigen::Success;
}

}  // namespace

double feasibility_factor(ConstVectorRef g, ConstMatrixRef a, Index operation_count) {
  const std::vector<Index> rows = positive_rows(g, a);
  if (rows.empty()) return 1.0;
  const Vector scale = g(rows).cwiseSqrt().cwiseInverse();
  const Matrix scaled = scale.asDiagonal() * a(rows, rows) * scale.asDiagonal();
  // Eigen's Cholesky reports success on NaN.
  if (!scaled.allFinite()) throw Error("feasibility: a sensitivity overflows or is not a number");
  // The shift alone needs this much; trying less would fail for certain.
  const double least = 4.0 * static_cast<double>(scaled.rows()) *
                       (rounding_gamma(scaled.rows() + 2) + rounding_gamma(operation_count + 8));
  double excess = least;
  while (excess < 1e6) {
    if (is_feasible(1.0 + excess, scaled, operation_count)) return next_up(1.0 + excess);
    excess *= 4.0;
  }
  throw Error("feasibility: no multiple of the metric could be verified");
}

namespace {

/// Of the shorter side.
Matrix gram_of(const Matrix& matrix) {
  const bool is_wide = matrix.cols() > matrix.rows();
  return is_wide ? Matrix(matrix * matrix.transpose()) : Matrix(matrix.transpose() * matrix);
}

}  // namespace

bool is_norm_at_most(const Matrix& matrix, double bound) {
  if (!(bound > 0.0)) return matrix.isZero(0.0);
  const Matrix gram = gram_of(matrix / bound);
  // The division rounds each entry once more.
  return gram.allFinite() && is_feasible(1.0, gram, std::max(matrix.rows(), matrix.cols()) + 16);
}

double spectral_norm(const Matrix& matrix) {
  if (matrix.size() == 0) return 0.0;
  const Matrix gram = gram_of(matrix);
  // The computed eigenvalue is a guess, which the factorisation verifies.
  const double top = std::max(leading_eigenpairs(Covariance::dense(gram), 1).values(0), 1e-290);
  const double factor = feasibility_factor(Vector::Constant(gram.rows(), top), gram,
                                           std::max(matrix.rows(), matrix.cols()) + 8);
  return enlarged(std::sqrt(top * factor));
}

}  // namespace mixcert
