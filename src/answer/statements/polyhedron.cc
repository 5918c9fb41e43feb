// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Distances (U.6). With violations v = t - R y of unit rows, weak duality of the projection onto A says
//     d(y, A)^2 >= 2 mu'v - |R'mu|^2      for every mu >= 0.
// mu comes from coordinate ascent over the rows that are violated. One row gives the largest violation, rows
// of a box are orthogonal, so that one sweep is exact; a program for quadratic problems is not needed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "answer/dual_bounds.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr int kSweeps = 50;
// Relative change of mu at which ascent stops; the distance then changes by about its square.
constexpr double kSettled = 1e-3;
constexpr std::size_t kMostRows = 16;

/// Rows with positive violation, the worst ones when there are many.
std::vector<Index> violated_rows(const Vector& violations) {
  std::vector<Index> rows;
  for (Index j = 0; j < violations.size(); ++j) {
    if (violations(j) > 0.0) rows.push_back(j);
  }
  if (rows.size() > kMostRows) {
    const auto last = rows.begin() + kMostRows;
    std::nth_element(rows.begin(), last, rows.end(),
                     [&](Index a, Index b) { return violations(a) > violations(b); });
    rows.erase(last, rows.end());
  }
  return rows;
}

/// Approximately the maximiser of 2 mu'v - mu'G mu over mu >= 0.
Vector ascend(const Vector& v, const Matrix& gram, const std::vector<Index>& rows) {
  const auto count = static_cast<Index>(rows.size());
  Vector mu = Vector::Zero(count);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double change = 0.0;
    for (Index i = 0; i < count; ++i) {
      const Index row = rows[static_cast<std::size_t>(i)];
      double rest = v(row);
      for (Index k = 0; k < count; ++k) {
        if (k != i) rest -= gram(row, rows[static_cast<std::size_t>(k)]) * mu(k);
      }
      const double next = positive_part(rest / gram(row, row));
      change = std::max(change, std::abs(next - mu(i)));
      mu(i) = next;
    }
    if (change <= kSettled * mu.maxCoeff()) break;
  }
  return mu;
}

double distance_lower(const Vector& v, const Matrix& gram, Index dimension, double enough) {
  // One row with mu = v: its violation, up to rounding of the row's norm.
  const double single = v.maxCoeff() * (1.0 - rounding_gamma(2 * dimension + 64));
  if (single >= enough) return single;
  const std::vector<Index> rows = violated_rows(v);
  if (rows.empty()) return 0.0;
  const Vector mu = ascend(v, gram, rows);
  double linear = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double row = 0.0;
    for (std::size_t k = 0; k < rows.size(); ++k) row += gram(rows[i], rows[k]) * mu(static_cast<Index>(k));
    linear += 2.0 * mu(static_cast<Index>(i)) * v(rows[i]);
    square += mu(static_cast<Index>(i)) * row;
  }
  // Entries of the Gram matrix are off by gamma, and every sum is bounded by these two.
  const double gamma = rounding_gamma(2 * dimension + 4 * static_cast<Index>(rows.size()) + 64);
  const double lower = linear - square - gamma * (linear + mu.sum() * mu.sum());
  return std::max(single, lower > 0.0 ? next_down(std::sqrt(next_down(lower))) : 0.0);
}

}  // namespace

Polyhedron::Polyhedron(const Statement& statement)
    : rows_(statement.rows), thresholds_(statement.thresholds) {
  for (Index j = 0; j < rows_.rows(); ++j) {
    const double norm = rows_.row(j).stableNorm();
    rows_.row(j) /= norm;
    thresholds_(j) /= norm;
  }
  gram_ = rows_ * rows_.transpose();
  threshold_size_ = thresholds_.cwiseAbs().maxCoeff();
}

Polyhedron::Distances Polyhedron::distances(ConstMatrixRef points, double enough) const {
  const Matrix violations = (-rows_ * points).colwise() + thresholds_;
  const double gamma = rounding_gamma(2 * points.rows() + 32);
  Distances result{Vector(points.cols()), Vector(points.cols())};
  Vector least(rows_.rows());
  for (Index s = 0; s < points.cols(); ++s) {
    const double error = gamma * (points.col(s).norm() + threshold_size_);
    const double slack = -violations.col(s).maxCoeff();
    least = violations.col(s).array() - error;
    result.to_set(s) = slack + error > 0.0 ? 0.0 : distance_lower(least, gram_, points.rows(), enough);
    result.to_complement(s) = positive_part(slack - error);
    result.inside += slack > 0.0 ? 1 : 0;
  }
  return result;
}

}  // namespace mixcert
