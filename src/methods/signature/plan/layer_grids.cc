// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Grid sizes from the errors that the certificate counts: docs/theory/signatures.md (S.6).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "methods/signature/plan/signature_plan.h"
#include "methods/signature/signature_certificate.h"
#include "mixture/symmetric_eigen.h"
#include "quantize/signature.h"

namespace mixcert {
namespace {

// Errors are evaluated up to this many points on a coordinate; beyond, where the local slopes have
// long converged, they are taken to fall like the distortion.
constexpr Index kLargestEvaluated = 64;
// Coordinates considered beyond those that can carry an axis.
constexpr Index kSpareCoordinates = 1;

/// The mean-square errors of a diagonal component's activations as the certificate counts them,
/// against the number of points on a coordinate.
class CoordinateErrors {
 public:
  CoordinateErrors(const Gaussian& gaussian, const Placement& placement, Index points)
      : mean_(gaussian.mean), variances_(gaussian.covariance.variances()), placement_(placement) {
    one_point_.resize(mean_.size());
    for (Index i = 0; i < mean_.size(); ++i) one_point_(i) = evaluate(i, 1);
    choose_candidates(points);
    for (const Index i : candidates_) tables_.push_back(tabulate(i, std::min(points, kLargestEvaluated)));
  }

  /// Coordinates that may carry an axis, the most costly first.
  [[nodiscard]] const std::vector<Index>& candidates() const { return candidates_; }
  [[nodiscard]] const Vector& one_point() const { return one_point_; }

  /// Error of candidate c with at most n points, and the number that attains it: more points are
  /// not always better (an even number puts a cell boundary on the kink of a centred ReLU).
  [[nodiscard]] std::pair<double, Index> best(Index c, Index n) const {
    const Table& table = tables_[static_cast<std::size_t>(c)];
    const auto last = static_cast<Index>(table.error.size());
    if (n <= last)
      return {table.error[static_cast<std::size_t>(n - 1)], table.size[static_cast<std::size_t>(n - 1)]};
    const double ratio = placement_.family(n).distortion.nominal / placement_.family(last).distortion.nominal;
    return {table.error.back() * ratio, n};
  }

 private:
  struct Table {
    std::vector<double> error;  ///< the least with at most [n-1]+1 points
    std::vector<Index> size;
  };

  [[nodiscard]] double evaluate(Index i, Index n) const {
    if (!(variances_(i) > 0.0)) return 0.0;
    const NormalQuantizer& quantizer = placement_.family(n);
    const double l = placement_.activation.lipschitz().nominal;
    const double local = coordinate_error(placement_.activation.at(i / placement_.input_count), mean_(i),
                                          std::sqrt(variances_(i)), quantizer)
                             .nominal;
    return std::min(l * l * variances_(i) * quantizer.distortion.nominal, local);
  }

  /// In the metric with the least error without axes: the same for every metric and, but for their
  /// number, for every budget, so that a larger budget never has fewer choices.
  void choose_candidates(Index points) {
    const auto least = std::min_element(
        placement_.metrics.begin(), placement_.metrics.end(),
        [&](const Vector& a, const Vector& b) { return a.dot(one_point_) < b.dot(one_point_); });
    const Vector cost = least->cwiseProduct(one_point_);
    candidates_.resize(static_cast<std::size_t>(cost.size()));
    std::iota(candidates_.begin(), candidates_.end(), 0);
    const Index axes = points == 1 ? 0 : max_active_axes(points) + kSpareCoordinates;
    const auto count = static_cast<std::ptrdiff_t>(std::min(cost.size(), axes));
    std::partial_sort(candidates_.begin(), candidates_.begin() + count, candidates_.end(),
                      [&](Index a, Index b) { return cost(a) > cost(b) || (cost(a) == cost(b) && a < b); });
    candidates_.resize(static_cast<std::size_t>(count));
  }

  [[nodiscard]] Table tabulate(Index i, Index largest) const {
    Table table{{one_point_(i)}, {1}};
    for (Index n = 2; n <= largest; ++n) {
      const double error = evaluate(i, n);
      const bool better = error < table.error.back();
      table.size.push_back(better ? n : table.size.back());
      table.error.push_back(better ? error : table.error.back());
    }
    return table;
  }

  const Vector& mean_;
  Vector variances_;
  const Placement& placement_;
  Vector one_point_;
  std::vector<Index> candidates_;
  std::vector<Table> tables_;
};

/// A grid and its error in the metric it was made for.
struct Grid {
  GridAxes axes;
  double error = 0.0;
};

Grid refined_grid(const Covariance& covariance, const CoordinateErrors& errors, const Vector& metric,
                  Index points, QuantizerFamily family) {
  const std::vector<Index>& candidates = errors.candidates();
  const auto weighted = [&](Index c, Index n) {
    return metric(candidates[static_cast<std::size_t>(c)]) * errors.best(c, n).first;
  };
  const std::vector<Index> budgets =
      optimal_grid_sizes(static_cast<Index>(candidates.size()), points, weighted);
  std::vector<Index> sizes(static_cast<std::size_t>(covariance.dimension()), 1);
  double error = metric.dot(errors.one_point());
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const auto axis = static_cast<Index>(c);
    sizes[static_cast<std::size_t>(candidates[c])] = errors.best(axis, budgets[c]).second;
    error -= weighted(axis, 1) - weighted(axis, budgets[c]);
  }
  return {coordinate_axes(covariance, sizes, family), error};
}

Grid plain_grid(const Covariance& covariance, const Placement& placement, const Vector& metric,
                Index points) {
  Grid grid{grid_axes(covariance, metric, points, placement.family), 0.0};
  const double l = placement.activation.lipschitz().nominal;
  grid.error =
      l * l * metric.dot(make_signature(covariance, grid.axes).mean_square_errors(covariance.variances()));
  return grid;
}

/// One component in each of the metrics `tried`.
std::vector<Grid> component_grids(const Gaussian& gaussian, const Placement& placement,
                                  const std::vector<std::size_t>& tried, Index points) {
  std::vector<Grid> grids;
  const Covariance& covariance = gaussian.covariance;
  if (!placement.refine || !covariance.is_diagonal()) {
    for (const std::size_t c : tried)
      grids.push_back(plain_grid(covariance, placement, placement.metrics[c], points));
    return grids;
  }
  const CoordinateErrors errors(gaussian, placement, points);
  for (const std::size_t c : tried) {
    grids.push_back(refined_grid(covariance, errors, placement.metrics[c], points, placement.family));
  }
  return grids;
}

/// All metrics; where each grid costs a Lanczos iteration, only the one with the least error without axes.
std::vector<std::size_t> affordable(const GaussianMixture& mixture, const Placement& placement) {
  Vector variances = Vector::Zero(mixture.dimension());
  bool cheap = true;
  for (Index j = 0; j < mixture.size(); ++j) {
    const Covariance& covariance = mixture.component(j).covariance;
    cheap = cheap && has_cheap_eigenpairs(covariance);
    variances += mixture.weights()(j) * covariance.variances();
  }
  std::vector<std::size_t> tried(placement.metrics.size());
  std::iota(tried.begin(), tried.end(), 0);
  if (cheap) return tried;
  return {*std::min_element(tried.begin(), tried.end(), [&](std::size_t a, std::size_t b) {
    return placement.metrics[a].dot(variances) < placement.metrics[b].dot(variances);
  })};
}

}  // namespace

LayerGrids layer_grids(const GaussianMixture& mixture, const Placement& placement, Index points) {
  const std::vector<std::size_t> tried = affordable(mixture, placement);
  std::vector<std::vector<Grid>> grids;  // [component][metric tried]
  Vector totals = Vector::Zero(static_cast<Index>(tried.size()));
  for (Index j = 0; j < mixture.size(); ++j) {
    grids.push_back(component_grids(mixture.component(j), placement, tried, points));
    for (Index c = 0; c < totals.size(); ++c) {
      totals(c) += mixture.weights()(j) * grids.back()[static_cast<std::size_t>(c)].error;
    }
  }
  Index best = 0;
  totals.minCoeff(&best);
  LayerGrids result;
  result.metric = tried[static_cast<std::size_t>(best)];
  result.axes.reserve(grids.size());
  for (std::vector<Grid>& of_component : grids) {
    result.axes.push_back(std::move(of_component[static_cast<std::size_t>(best)].axes));
  }
  return result;
}

}  // namespace mixcert
