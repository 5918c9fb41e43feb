// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How samples are moved, docs/theory/statistics.md (C.3): between Gaussians and to the pieces of a split.
#include <algorithm>
#include <cmath>

#include "core/normal.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/coupled_simulation.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

// Between Gaussians the usual formula of the optimal map, C_1^{-1/2} (C_1^{1/2} C_2 C_1^{1/2})^{1/2}
// C_1^{-1/2}, needs a regular C_1; through white noise none is needed.

namespace {

/// Eigenvalues below this part of the largest count as zero: above what was added to the stored matrices
/// against rounding (H.5), which samples do not have. Costs nothing in the law, for those directions get
/// fresh noise of the full stored variance.
double vanishing_part(Index dimension) {
  const auto n = static_cast<double>(dimension);
  return 1e-8 + 1e-13 * n * n * n;
}

}  // namespace

Whitening::Whitening(const Gaussian& gaussian) : mean_(gaussian.mean) {
  if (gaussian.covariance.is_diagonal()) {
    values_ = gaussian.covariance.variances();
  } else {
    SymmetricEigen eigen = symmetric_eigen(gaussian.covariance.to_dense());
    values_ = positive_part(eigen.values);
    vectors_ = std::move(eigen.vectors);
  }
  const double least = is_diagonal() ? 0.0 : vanishing_part(values_.size()) * values_.maxCoeff();
  inverse_roots_ =
      values_.unaryExpr([least](double value) { return value > least ? 1.0 / std::sqrt(value) : 0.0; });
}

Matrix Whitening::root() const {
  if (is_diagonal()) return values_.cwiseSqrt().asDiagonal();
  return vectors_ * values_.cwiseSqrt().asDiagonal() * vectors_.transpose();
}

Matrix Whitening::whiten(ConstMatrixRef samples, Generator& generator) const {
  Matrix white = samples.colwise() - mean_;
  if (!is_diagonal()) white = vectors_.transpose() * white;
  white.array().colwise() *= inverse_roots_.array();
  Matrix fresh(1, white.cols());
  for (Index j = 0; j < white.rows(); ++j) {
    if (inverse_roots_(j) > 0.0) continue;
    fill_normal(generator, fresh);
    white.row(j) = fresh;
  }
  if (!is_diagonal()) white = vectors_ * white;
  return white;
}

Matrix Whitening::apply_inverse_root(ConstMatrixRef right) const {
  if (is_diagonal()) return inverse_roots_.asDiagonal() * right;
  return vectors_ * (inverse_roots_.asDiagonal() * (vectors_.transpose() * right));
}

GaussianMap::GaussianMap(const Gaussian& from, const Gaussian& to) : from_(from), mean_(to.mean) {
  if (from_.is_diagonal() && to.covariance.is_diagonal()) {
    scale_ = to.covariance.variances().cwiseSqrt();
    return;
  }
  const Matrix root = Whitening(to).root();
  const SingularValues svd = singular_values(root * from_.root());
  matrix_ = root * (svd.left * svd.right.transpose());
}

Matrix GaussianMap::apply(ConstMatrixRef samples, Generator& generator) const {
  Matrix moved = from_.whiten(samples, generator);
  if (matrix_.size() > 0) {
    moved = matrix_ * moved;
  } else {
    moved.array().colwise() *= scale_.array();
  }
  moved.colwise() += mean_;
  return moved;
}

// Splits of samples. A component N(m, C) is m + U xi + r with independent standard normals xi and
// r ~ N(0, C - U U'). Given z, xi is Gaussian with mean U' C^+ (z - m) and covariance I - U' C^+ U; it is
// drawn, moved to xi', and z becomes z + U (xi' - xi), which leaves r alone (C.3).

namespace {

/// log of the upper tail of the rule's mixture at x >= 0, and its derivative.
struct LogTail {
  double value = 0.0;
  double slope = 0.0;
};

LogTail log_tail(const SplitRule& rule, double x) {
  double tail = 0.0;
  double density = 0.0;
  for (Index c = 0; c < rule.size(); ++c) {
    const double t = (x - rule.centers(c)) / rule.width;
    tail += rule.weights(c) * normal_tail(t);
    density += rule.weights(c) * normal_density(t);
  }
  return {std::log(tail / rule.weights.sum()), -density / (rule.width * tail)};
}

}  // namespace

double monotone_split(const SplitRule& rule, double x) {
  // Rules are symmetric: the upper tail is accurate where the distribution function is not.
  const double size = std::abs(x);
  const double wanted = std::log(normal_tail(size));
  double low = 0.0;
  double high = rule.centers.maxCoeff() + rule.width * size;
  double place = 0.5 * (low + high);
  for (int step = 0; step < 200; ++step) {
    const LogTail tail = log_tail(rule, place);
    (tail.value > wanted ? low : high) = place;
    double next = place - (tail.value - wanted) / tail.slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double change = std::abs(next - place);
    place = next;
    if (change <= 1e-14 * (1.0 + place)) break;
  }
  return std::copysign(place, x);
}

Index draw_split_component(const SplitRule& rule, double x, Generator& generator) {
  Vector posterior = -0.5 * ((x - rule.centers.array()) / rule.width).square();
  posterior = rule.weights.array() * (posterior.array() - posterior.maxCoeff()).exp();
  double left = uniform(generator) * posterior.sum();
  for (Index c = 0; c + 1 < rule.size(); ++c) {
    left -= posterior(c);
    if (left < 0.0) return c;
  }
  return rule.size() - 1;
}

SplitMap::SplitMap(const Gaussian& component, const std::vector<SplitDirection>& splits) : splits_(splits) {
  if (splits.empty()) return;
  whitening_.emplace_back(component);
  const auto count = static_cast<Index>(splits.size());
  directions_.resize(component.dimension(), count);
  for (Index d = 0; d < count; ++d) {
    const SplitDirection& split = splits[static_cast<std::size_t>(d)];
    directions_.col(d) = split.direction;
    piece_count_ *= split.rule->size();
  }
  regression_ = whitening_.front().apply_inverse_root(directions_).transpose();
  rest_factor_ = psd_factor(Matrix::Identity(count, count) - regression_ * regression_.transpose());
}

std::vector<Index> SplitMap::apply(Matrix& samples, Generator& generator) const {
  std::vector<Index> pieces(static_cast<std::size_t>(samples.cols()), 0);
  if (splits_.empty()) return pieces;
  Matrix normals(directions_.cols(), samples.cols());
  fill_normal(generator, normals);
  const Matrix before = regression_ * whitening_.front().whiten(samples, generator) + rest_factor_ * normals;
  Matrix change(before.rows(), before.cols());
  for (Index s = 0; s < samples.cols(); ++s) {
    Index piece = 0;
    for (Index d = 0; d < before.rows(); ++d) {
      const SplitRule& rule = *splits_[static_cast<std::size_t>(d)].rule;
      const double after = monotone_split(rule, before(d, s));
      change(d, s) = after - before(d, s);
      piece = piece * rule.size() + draw_split_component(rule, after, generator);
    }
    pieces[static_cast<std::size_t>(s)] = piece;
  }
  samples.noalias() += directions_ * change;
  return pieces;
}

}  // namespace mixcert
