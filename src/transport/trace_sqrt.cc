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

Matrix longest_columns(const Matrix& y) {
  if (y.cols() <= kMaxColumns) return y;
  const Vector norms = y.colwise().squaredNorm();
  std::vector<Index> order(static_cast<std::size_t>(y.cols()));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + kMaxColumns, order.end(),
                    [&](Index i, Index j) { return norms(i) > norms(j) || (norms(i) == norms(j) && i < j); });
  order.resize(static_cast<std::size_t>(kMaxColumns));
  return y(Eigen::all, order);
}

}  // namespace

double trace_sqrt_gain(ConstVectorRef x, ConstMatrixRef all_columns) {
  const Matrix y = longest_columns(all_columns);
  const double scale = y.squaredNorm();
  if (y.cols() == 0 || !(scale > 0.0)) return 0.0;
  const Vector diagonal = x.cwiseMax(0.0);
  const double largest = std::log(std::sqrt(diagonal.maxCoeff() + scale));
  double sum = 0.0;
  for (int i = -kNodesEachSide; i <= kNodesEachSide; ++i) {
    const double root = std::exp(largest + i * kStep);
    sum += root * root * root * node_value(diagonal, y, root * root);
  }
  const double integral = 2.0 * kStep / std::numbers::pi * sum;
  // Error of the trapezoidal rule on both traces, (T.3).
  const double rule_error = 2.01 / std::cosh(std::numbers::pi * std::numbers::pi / kStep);
  const double roots = diagonal.cwiseSqrt().sum();
  const double nuclear_norm = std::sqrt(scale * static_cast<double>(y.cols()));
  return std::max(0.0, integral * (1.0 - 1e-12) - rule_error * (2.0 * roots + nuclear_norm) * (1.0 + 1e-9));
}

}  // namespace mixcert
