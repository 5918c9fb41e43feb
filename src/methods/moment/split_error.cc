// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Costs of splits, docs/theory/splitting.md (P.1), and of the rounded pieces (H.6).
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "methods/moment/split_pieces.h"

namespace mixcert {
namespace {

/// sum_d u_d' G u_d omega_d^2.
UpperBound component_cost(const std::vector<SplitDirection>& splits, ConstVectorRef g) {
  UpperBound cost;
  for (const SplitDirection& split : splits) {
    const double size = g.dot(split.direction.cwiseAbs2());
    const UpperBound omega = UpperBound::exact(split.rule->error);
    cost = cost + UpperBound::of_sum(size, 2 * g.size() + 4) * omega * omega;
  }
  return cost;
}

/// Diagonal components are split along coordinates: u_j^2 <= C_jj, added up, suffices.
bool diagonal_fits(const Vector& variances, const std::vector<SplitDirection>& splits) {
  Vector taken = Vector::Zero(variances.size());
  for (const SplitDirection& split : splits) {
    if ((split.direction.array() != 0.0).count() > 1) return false;
    taken += split.direction.cwiseAbs2();
  }
  return (taken.array() * (1.0 + 4 * kUnitRoundoff) <= variances.array()).all();
}

}  // namespace

double split_slack(Index dimension) {
  return 32.0 * static_cast<double>(dimension) * rounding_gamma(dimension + 32);
}

bool splits_fit(const Covariance& covariance, const std::vector<SplitDirection>& splits) {
  const Vector variances = covariance.variances();
  if (covariance.is_diagonal()) return diagonal_fits(variances, splits);
  const Index n = covariance.dimension();
  const Vector scale = variances.unaryExpr([](double v) { return v > 0.0 ? 1.0 / std::sqrt(v) : 0.0; });
  Matrix rest = covariance.to_dense();
  for (const SplitDirection& split : splits) rest -= split.direction * split.direction.transpose();
  rest = scale.asDiagonal() * rest * scale.asDiagonal();
  for (Index i = 0; i < n; ++i) {
    const bool constant = !(variances(i) > 0.0);
    for (const SplitDirection& split : splits) {
      if (constant && split.direction(i) != 0.0) return false;
    }
    if (constant) rest(i, i) = 1.0;
  }
  if (!rest.allFinite()) return false;
  // (M.4): a Cholesky factorisation that ends proves H >= 0 for H = (factorised matrix) + shift; entries of
  // `rest` are off by at most gamma times the product of two deviations each, 1 + the number of directions of
  // them.
  const double terms = static_cast<double>(splits.size() + 2);
  const double count = static_cast<double>(n);
  const double shift =
      2.0 * (rounding_gamma(n + 2) * 2.0 * count +
             count * terms * rounding_gamma(static_cast<Index>(splits.size()) + covariance.rank() + 8));
  const double slack = split_slack(n);
  if (shift >= slack) return false;
  rest.diagonal().array() += slack - shift;
  return rest.llt().info() == Eigen::Success;
}

UpperBound split_distance(const MomentLayerTrace& layer, ConstVectorRef g, UpperBound scale) {
  UpperBound squared;
  double spread = 0.0;
  Index directions = 0;
  for (std::size_t j = 0; j < layer.splits.size(); ++j) {
    const double weight = layer.after.weights()(static_cast<Index>(j));
    const Gaussian& component = layer.after.component(static_cast<Index>(j));
    spread += weight * g.dot(component.covariance.variances() + component.mean.cwiseAbs2());
    if (layer.splits[j].empty()) continue;
    squared = squared + UpperBound::exact(weight) * component_cost(layer.splits[j], g);
    directions = std::max(directions, static_cast<Index>(layer.splits[j].size()));
  }
  if (directions == 0) return {};
  // Means, covariances and weights of the pieces are rounded (H.6).
  const double n = static_cast<double>(g.size());
  const double relative = 2.0 * split_slack(g.size()) + 8.0 * n * rounding_gamma(8 * directions + 64) +
                          16.0 * rounding_gamma(layer.pieces.size() + 8 * directions + 64);
  return (sqrt(squared) + UpperBound{0.0, std::sqrt(relative * spread) * (1.0 + 1e-9)}) * scale;
}

}  // namespace mixcert
