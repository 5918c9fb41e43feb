// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Verified Loewner inequalities (M.4): if the floating-point Cholesky factorisation of
// H - c I runs to its end, with c at least gamma_{n+1} tr(H) (Rump 2006) plus the error with
// which H itself was computed, then H is positive semidefinite.
#include <Eigen/Cholesky>
#include <cmath>
#include <vector>

#include "mixcert/core/error.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
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

}  // namespace mixcert
