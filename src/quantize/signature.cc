// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Grid signatures: docs/theory/signatures.md, (S.1) to (S.3), and (R.5) for the rounding of
// their directions.
#include "quantize/signature.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

// Directions that carry less than this fraction of the leading one are left to their mean where
// directions are computed ones: the rounding of so flat a direction (R.5) costs more than it gains.
constexpr double kFlattestDirection = 1e-6;

/// Directions u_d = C w_d with w_d' C w_e = [d = e], from approximate eigenvectors scaled
/// back from metric coordinates: Gram-Schmidt in the inner product of C, twice.
struct Directions {
  Matrix dual;     // w_d
  Matrix columns;  // u_d
};

Directions orthonormalise(const Covariance& covariance, Matrix dual) {
  Matrix columns(dual.rows(), dual.cols());
  for (Index d = 0; d < dual.cols(); ++d) {
    for (int pass = 0; pass < 2; ++pass) {
      const Vector overlap = columns.leftCols(d).transpose() * dual.col(d);
      dual.col(d) -= dual.leftCols(d) * overlap;
    }
    columns.col(d) = covariance.times(dual.col(d));
    const double norm = std::sqrt(dual.col(d).dot(columns.col(d)));
    dual.col(d) /= norm;
    columns.col(d) /= norm;
  }
  return {std::move(dual), std::move(columns)};
}

/// (R.5): the computed columns differ from exact ones C W (W'CW)^{-1/2} by at most this
/// times sqrt(tr G C) in the metric's Frobenius norm.
double direction_error(const Covariance& covariance, const Directions& directions) {
  const Index axes = directions.columns.cols();
  const Vector deviations = covariance.variances().cwiseSqrt();
  const double gamma = rounding_gamma(2 * covariance.dimension() + covariance.rank() + 8);
  const double spread = (directions.dual.cwiseAbs().transpose() * deviations).sum();
  const Matrix gram = directions.dual.transpose() * directions.columns;
  const double residual = (gram - Matrix::Identity(axes, axes)).norm() + 2.0 * gamma * spread * spread;
  if (residual > 0.5) return INFINITY;
  return 2.0 * residual + 2.0 * gamma * spread;
}

/// Only quantizers of the two families have a proven distortion (Q.2).
bool is_proven_quantizer(const NormalQuantizer* quantizer) {
  if (quantizer == nullptr || quantizer->size() < 1 || quantizer->size() > kMaxQuantizerSize) return false;
  return quantizer == &optimal_quantizer(quantizer->size()) ||
         quantizer == &uniform_quantizer(quantizer->size());
}

GridSignature along_coordinates(const Covariance& covariance, const GridAxes& axes) {
  const Vector variances = covariance.variances();
  require(axes.coordinates.size() == axes.quantizers.size() && axes.duals.size() == 0,
          "make_signature: expected one coordinate for each quantizer of a diagonal covariance");
  GridSignature signature;
  signature.quantizers = axes.quantizers;
  signature.coordinates = axes.coordinates;
  std::vector<bool> taken(static_cast<std::size_t>(variances.size()), false);
  // u is the deviation of its coordinate, exact to one rounding.
  signature.directions = Matrix::Zero(variances.size(), static_cast<Index>(axes.coordinates.size()));
  for (Index d = 0; d < signature.axis_count(); ++d) {
    const Index coordinate = axes.coordinates[static_cast<std::size_t>(d)];
    require(coordinate >= 0 && coordinate < variances.size() && !taken[static_cast<std::size_t>(coordinate)],
            "make_signature: expected coordinates of the covariance, each once");
    taken[static_cast<std::size_t>(coordinate)] = true;
    signature.directions(coordinate, d) = std::sqrt(variances(coordinate));
  }
  signature.direction_error = 2 * kUnitRoundoff;
  return signature;
}

GridSignature along_duals(const Covariance& covariance, const GridAxes& axes) {
  require(axes.coordinates.empty() && axes.duals.rows() == covariance.dimension() &&
              axes.duals.cols() == static_cast<Index>(axes.quantizers.size()),
          "make_signature: expected one column for each quantizer of a covariance that is not diagonal");
  GridSignature signature;
  signature.quantizers = axes.quantizers;
  const Directions directions = orthonormalise(covariance, axes.duals);
  signature.direction_error = direction_error(covariance, directions);
  signature.directions = directions.columns;
  return signature;
}

}  // namespace

Index GridSignature::point_count() const {
  Index count = 1;
  for (const NormalQuantizer* quantizer : quantizers) count *= quantizer->size();
  return count;
}

DiscreteLaw GridSignature::points(ConstVectorRef mean) const {
  DiscreteLaw law{mean.replicate(1, point_count()), Vector::Ones(point_count())};
  Index repeat = 1;  // columns that share one location of this axis
  for (Index d = 0; d < axis_count(); ++d) {
    const NormalQuantizer& quantizer = *quantizers[static_cast<std::size_t>(d)];
    for (Index p = 0; p < law.weights.size(); ++p) {
      const Index i = (p / repeat) % quantizer.size();
      law.points.col(p) += quantizer.locations(i) * directions.col(d);
      law.weights(p) *= quantizer.probabilities(i);
    }
    repeat *= quantizer.size();
  }
  return law;
}

Vector GridSignature::mean_square_errors(ConstVectorRef variances) const {
  Vector errors = variances;
  for (Index d = 0; d < axis_count(); ++d) {
    const double captured = 1.0 - quantizers[static_cast<std::size_t>(d)]->distortion.nominal;
    errors -= captured * directions.col(d).cwiseAbs2();
  }
  return positive_part(errors);
}

GridAxes coordinate_axes(const Covariance& covariance, const std::vector<Index>& sizes,
                         QuantizerFamily family) {
  const Vector variances = covariance.variances();
  GridAxes axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1 || !(variances(static_cast<Index>(i)) > 0.0)) continue;
    axes.coordinates.push_back(static_cast<Index>(i));
    axes.quantizers.push_back(&family(sizes[i]));
  }
  return axes;
}

GridAxes grid_axes(const Covariance& covariance, ConstVectorRef metric, Index point_budget,
                   QuantizerFamily family) {
  require(metric.size() == covariance.dimension(), "grid_axes: the metric has the wrong size");
  const auto distortion = [family](Index n) { return family(n).distortion.nominal; };
  if (covariance.is_diagonal()) {
    const Vector weighted = metric.cwiseProduct(covariance.variances());
    return coordinate_axes(covariance, optimal_grid_sizes(weighted, point_budget, distortion), family);
  }
  const Vector scale = metric.cwiseSqrt();
  const Eigenpairs pairs = leading_eigenpairs(covariance.scaled(scale), max_active_axes(point_budget));
  const std::vector<Index> sizes = optimal_grid_sizes(pairs.values, point_budget, distortion);
  GridAxes axes;
  Matrix duals(covariance.dimension(), pairs.values.size());
  for (Index j = 0; j < pairs.values.size(); ++j) {
    const Index size = sizes[static_cast<std::size_t>(j)];
    if (size == 1 || pairs.values(j) <= kFlattestDirection * pairs.values(0)) continue;
    duals.col(static_cast<Index>(axes.quantizers.size())) = scale.cwiseProduct(pairs.vectors.col(j));
    axes.quantizers.push_back(&family(size));
  }
  axes.duals = duals.leftCols(static_cast<Index>(axes.quantizers.size()));
  return axes;
}

GridSignature make_signature(const Covariance& covariance, const GridAxes& axes) {
  const bool proven = std::all_of(axes.quantizers.begin(), axes.quantizers.end(), is_proven_quantizer);
  require(proven, "make_signature: expected optimal or uniform quantizers");
  return covariance.is_diagonal() ? along_coordinates(covariance, axes) : along_duals(covariance, axes);
}

GridSignature grid_signature(const Covariance& covariance, ConstVectorRef metric, Index point_budget,
                             QuantizerFamily family) {
  return make_signature(covariance, grid_axes(covariance, metric, point_budget, family));
}

std::vector<Index> equal_points(ConstMatrixRef points) {
  std::unordered_map<std::string, Index> seen;
  std::vector<Index> group(static_cast<std::size_t>(points.cols()));
  const auto bytes = static_cast<std::size_t>(points.rows()) * sizeof(double);
  std::string key(bytes, '\0');
  for (Index p = 0; p < points.cols(); ++p) {
    // Adding zero turns -0 into +0, so that equal points have equal bytes.
    const Vector point = points.col(p).array() + 0.0;
    std::memcpy(key.data(), point.data(), bytes);
    const auto entry = seen.emplace(key, static_cast<Index>(seen.size())).first;
    group[static_cast<std::size_t>(p)] = entry->second;
  }
  return group;
}

DiscreteLaw merge_equal_points(const DiscreteLaw& law) {
  const std::vector<Index> group = equal_points(law.points);
  std::vector<Index> kept;
  Vector weights = Vector::Zero(law.weights.size());
  for (Index p = 0; p < law.weights.size(); ++p) {
    const Index g = group[static_cast<std::size_t>(p)];
    if (g == static_cast<Index>(kept.size())) kept.push_back(p);
    weights(g) += law.weights(p);
  }
  const auto count = static_cast<Index>(kept.size());
  DiscreteLaw merged{Matrix(law.points.rows(), count), weights.head(count)};
  for (Index i = 0; i < count; ++i) merged.points.col(i) = law.points.col(kept[static_cast<std::size_t>(i)]);
  return merged;
}

}  // namespace mixcert
