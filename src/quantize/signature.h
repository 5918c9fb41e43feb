// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Grid signatures of Gaussians. A signature here is an explicit coupling: with
// z = m + sum_d u_d xi_d + rest, xi_d independent N(0,1), independent of the rest, it
// replaces each xi_d by its quantizer and the rest by its mean. The mean-square error of
// coordinate i is then  Var z_i - sum_d (1 - D_d) u_di^2  whatever the directions (S.1): no
// eigenvector needs to be accurate for the bound to hold. With eigenvectors it is the
// paper's construction and its exact W2.
#pragma once

#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "quantize/normal_quantizer.h"

namespace mixcert {

/// A law on finitely many points; columns of `points`.
struct DiscreteLaw {
  Matrix points;
  Vector weights;
};

using QuantizerFamily = const NormalQuantizer& (*)(Index);

struct GridSignature {
  /// u_d, one column per axis with more than one point.
  Matrix directions;
  /// The quantizer of each axis.
  std::vector<const NormalQuantizer*> quantizers;
  /// For a diagonal covariance the coordinate that axis d moves; empty otherwise.
  std::vector<Index> coordinates;
  /// |directions - exact directions| in the metric is at most this times sqrt(tr G C) (R.5).
  double direction_error = 0.0;

  [[nodiscard]] Index axis_count() const { return directions.cols(); }
  [[nodiscard]] Index point_count() const;
  /// All grid points and their probabilities.
  [[nodiscard]] DiscreteLaw points(ConstVectorRef mean) const;
  /// Per coordinate mean-square error (S.1); entries are nominal values, true values are at
  /// most rounding_gamma(2 axis_count + 4) * 2 * variances above.
  [[nodiscard]] Vector mean_square_errors(ConstVectorRef variances) const;
};

/// What may be chosen about a signature.
struct GridAxes {
  /// The quantizer of each axis: an optimal_quantizer or a uniform_quantizer.
  std::vector<const NormalQuantizer*> quantizers;
  /// For a diagonal covariance the coordinate that each axis moves, no two the same; empty otherwise.
  std::vector<Index> coordinates;
  /// For any other covariance C one column w per axis, which then moves along C w, made orthonormal to the
  /// axes before it in the sense of (S.2). Empty for a diagonal one.
  Matrix duals;
};

/// The signature along these axes, its directions with a proven error (R.5). Throws InvalidArgument where
/// the axes do not fit the covariance or have quantizers of their own.
GridSignature make_signature(const Covariance& covariance, const GridAxes& axes);

/// The axes with at most `point_budget` points whose error in the metric diag(metric) is smallest: along
/// leading eigenvectors of G^{1/2} C G^{1/2}, sizes by optimal_grid_sizes.
GridAxes grid_axes(const Covariance& covariance, ConstVectorRef metric, Index point_budget,
                   QuantizerFamily family);

/// Axes of a diagonal covariance with the given number of points on each of its coordinates; coordinates with
/// one point or no variance carry no axis.
GridAxes coordinate_axes(const Covariance& covariance, const std::vector<Index>& sizes,
                         QuantizerFamily family);

/// The signature along grid_axes().
GridSignature grid_signature(const Covariance& covariance, ConstVectorRef metric, Index point_budget,
                             QuantizerFamily family);

/// The paper's cross signature of a Gaussian: no certificate. max(1, floor(N / 2n)) radial
/// levels, two points per principal axis and level.
DiscreteLaw cross_signature(const Gaussian& gaussian, Index point_budget);

/// Numbers of the columns of `points` by value: equal ones share a number, numbers are in the order of first
/// appearance.
std::vector<Index> equal_points(ConstMatrixRef points);

/// Merges points that coincide exactly; keeps the order of first appearance.
DiscreteLaw merge_equal_points(const DiscreteLaw& law);

}  // namespace mixcert
