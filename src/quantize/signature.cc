// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Signatures of Gaussians: grids, docs/theory/signatures.md, (S.1) to (S.3), with (R.5) for the rounding of
// their directions, and the paper's cross scheme.
#include "quantize/signature.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/normal.h"
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

// The paper's cross scheme (its appendix on alternative placement): points on the principal
// axes, radii and weights by its two algorithms. It carries no certificate; with one radial
// level it matches 2/pi of the variance, not all of it, contrary to the appendix.

namespace {

/// r_l = sqrt(n) (phi(q_{l-1}) - phi(q_l)) / (1/(2L)), q_l the quantile of 1/2 + l/(2L).
std::vector<double> cross_radii(Index levels, Index dimension) {
  std::vector<double> radii;
  const double shell = 0.5 / static_cast<double>(levels);
  double previous = normal_density(0.0);
  for (Index level = 1; level <= levels; ++level) {
    const double p = 0.5 + static_cast<double>(level) * shell;
    const double density = level == levels ? 0.0 : normal_density(normal_quantile(p));
    radii.push_back((previous - density) / shell * std::sqrt(static_cast<double>(dimension)));
    previous = density;
  }
  return radii;
}

/// Probability of each radial shell of the standard normal, cut half way between radii.
std::vector<double> shell_masses(const std::vector<double>& radii, Index dimension) {
  std::vector<double> masses;
  double inside = 0.0;
  for (std::size_t level = 0; level < radii.size(); ++level) {
    const bool last = level + 1 == radii.size();
    const double next =
        last ? 1.0 : normal_ball_probability(0.5 * (radii[level] + radii[level + 1]), dimension);
    masses.push_back(next - inside);
    inside = next;
  }
  return masses;
}

}  // namespace

DiscreteLaw cross_signature(const Gaussian& gaussian, Index point_budget) {
  const Index n = gaussian.dimension();
  require(n > 0 && point_budget >= 1, "cross_signature: needs a dimension and a budget of at least one");
  const Index levels = std::max<Index>(1, point_budget / (2 * n));
  const std::vector<double> radii = cross_radii(levels, n);
  const std::vector<double> masses = shell_masses(radii, n);
  const Eigenpairs pairs = leading_eigenpairs(gaussian.covariance, n);
  DiscreteLaw law{Matrix(n, 2 * n * levels), Vector(2 * n * levels)};
  Index column = 0;
  for (std::size_t level = 0; level < radii.size(); ++level) {
    for (Index j = 0; j < n; ++j) {
      const Vector arm = radii[level] * std::sqrt(pairs.values(j)) * pairs.vectors.col(j);
      law.points.col(column) = gaussian.mean + arm;
      law.points.col(column + 1) = gaussian.mean - arm;
      law.weights.segment(column, 2).setConstant(masses[level] / (2.0 * static_cast<double>(n)));
      column += 2;
    }
  }
  return law;
}

}  // namespace mixcert
