// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lower bound of tr sqrt(diag(x) + Y Y') - sum sqrt(x_i) without an eigenvalue problem,
// docs/theory/transport.md (T.3). From sqrt(l) = (1/pi) int_0^inf l/(l+t) t^{-1/2} dt,
//     gain = (1/pi) int_0^inf t^{1/2} tr[(I + S1(t))^{-1} S2(t)] dt,
//     S_k(t) = Y' diag(x + t)^{-k} Y.
// With t = e^{2s} each eigenvalue contributes a shifted sech, for which the trapezoidal rule
// of step h is off by at most the factor 1 +- 2 sech(pi^2/h)(1 + 1e-6); the integrand is
// nonnegative, so leaving nodes out only lowers the sum. A dense eigen-solve of size 128 costs
// 50 times as much.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "mixcert/core/rounding.h"
#include "mixcert/transport/gaussian_transport.h"
#include "transport/trace_sqrt_rule.h"

namespace mixcert {
namespace {

constexpr double kStep = 0.4;
// Nodes reach 40 x 0.4 = 16 units of s beyond the largest eigenvalue's own; what is left out is
// below 1e-7 of the gain.
constexpr int kNodesEachSide = 40;

/// tr[(I + S1)^{-1} S2], lowered by its own rounding error (T.3): I + S1 >= I turns an absolute
/// error of S1 and S2 into a relative one.
double node_value(const Vector& x, const Matrix& y, double t) {
  const Vector inverse = (x.array() + t).inverse();
  const Matrix weighted = inverse.asDiagonal() * y;
  const Index r = y.cols();
  Matrix s1 = y.transpose() * weighted;
  const Matrix s2 = weighted.transpose() * weighted;
  const double relative_error =
      8.0 * static_cast<double>(r) * rounding_gamma(x.size() + 2 * r + 8) * (1.0 + s1.trace());
  if (relative_error > 0.5) return 0.0;
  s1.diagonal().array() += 1.0;
  const double value = r == 1 ? s2(0, 0) / s1(0, 0) : s1.llt().solve(s2).trace();
  return value * (1.0 - relative_error);
}

// Only this many columns, the longest, are used: Y Y' and with it the gain only get smaller by
// leaving columns out, and the work grows with their square. Compression orders its factors by
// principal directions, so little is lost.
constexpr Index kMaxColumns = 8;

std::vector<Index> longest_columns(ConstMatrixRef y) {
  std::vector<Index> order(static_cast<std::size_t>(y.cols()));
  std::iota(order.begin(), order.end(), 0);
  if (y.cols() <= kMaxColumns) return order;
  const Vector norms = y.colwise().squaredNorm();
  std::partial_sort(order.begin(), order.begin() + kMaxColumns, order.end(),
                    [&](Index i, Index j) { return norms(i) > norms(j) || (norms(i) == norms(j) && i < j); });
  order.resize(static_cast<std::size_t>(kMaxColumns));
  return order;
}

}  // namespace

TraceSqrtRule trace_sqrt_rule(ConstVectorRef x, ConstMatrixRef y) {
  TraceSqrtRule rule{longest_columns(y), Vector(0), Vector(0)};
  const double scale = y(Eigen::all, rule.columns).squaredNorm();
  if (!(scale > 0.0)) return rule;
  const double largest = std::log(std::sqrt(positive_part(x.maxCoeff()) + scale));
  const Vector roots = Vector::NullaryExpr(2 * kNodesEachSide + 1, [&](Index i) {
    return std::exp(largest + static_cast<double>(i - kNodesEachSide) * kStep);
  });
  rule.nodes = roots.cwiseAbs2();
  rule.weights = 2.0 * kStep / std::numbers::pi * roots.array().cube();
  return rule;
}

double trace_sqrt_gain(ConstVectorRef x, ConstMatrixRef all_columns) {
  if (all_columns.cols() == 0) return 0.0;
  const TraceSqrtRule rule = trace_sqrt_rule(x, all_columns);
  if (rule.nodes.size() == 0) return 0.0;
  const Matrix y = all_columns(Eigen::all, rule.columns);
  const Vector diagonal = positive_part(x);
  double integral = 0.0;
  for (Index i = 0; i < rule.nodes.size(); ++i) {
    integral += rule.weights(i) * node_value(diagonal, y, rule.nodes(i));
  }
  // Error of the trapezoidal rule on both traces, (T.3).
  const double rule_error = 2.01 / std::cosh(std::numbers::pi * std::numbers::pi / kStep);
  const double roots = diagonal.cwiseSqrt().sum();
  const double nuclear_norm = std::sqrt(y.squaredNorm() * static_cast<double>(y.cols()));
  return positive_part(integral * (1.0 - 1e-12) - rule_error * (2.0 * roots + nuclear_norm) * (1.0 + 1e-9));
}

}  // namespace mixcert
