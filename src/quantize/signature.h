// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Quantizers of N(0,1), how many points each axis of a product grid gets, and the grid signatures of
// Gaussians that both make.
#pragma once

#include <functional>
#include <vector>

#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

// Quantizers of N(0,1): the optimal one for any number of points up to 10,000, and the
// paper's uniform grid with its proven rate. Both with their exact error.

inline constexpr Index kMaxQuantizerSize = 10000;

struct NormalQuantizer {
  Vector locations;          ///< increasing
  Vector boundaries;         ///< size + 1 ends of the Voronoi cells, first -inf, last +inf
  Vector probabilities;      ///< P(Z in cell)
  UpperBound distortion;     ///< E (Z - location)^2 = W2^2, (Q.2)
  UpperBound mean_distance;  ///< E |Z - location| = W1, (Q.4)

  [[nodiscard]] Index size() const { return locations.size(); }
};

/// Locations c with c_i = E[Z | cell i], by Newton's method on these equations; unique, since
/// the density is log-concave (Q.1). Cached; safe to call from several threads. Throws
/// InvalidArgument unless 1 <= size <= kMaxQuantizerSize.
const NormalQuantizer& optimal_quantizer(Index size);

/// The paper's uniform grid: locations 2 sqrt(log N)/N (2i - N - 1). Cached likewise.
const NormalQuantizer& uniform_quantizer(Index size);

/// 4 log N / N^2 + r(N): the paper's proven bound of the uniform grid's distortion.
double uniform_quantizer_rate(Index size);

// How many points each axis of a product grid gets.

inline constexpr Index kMaxGridSize = 1000000;

/// Number of axes that can carry more than one of `point_budget` grid points.
Index max_active_axes(Index point_budget);

/// Cost of an axis (0-based) when it gets a given number of points; must not increase with it.
using AxisCost = std::function<double(Index axis, Index size)>;

/// argmin sum_j cost(j, N_j) over integers N_j >= 1 with prod N_j <= point_budget and
/// N_j <= kMaxQuantizerSize: the exact optimum, by dynamic programming over the quotients
/// floor(point_budget / m) (G.1). Of equal costs the one with fewer points on the earlier axis.
std::vector<Index> optimal_grid_sizes(Index axis_count, Index point_budget, const AxisCost& cost);

/// Distortion of the axis quantizer of a given size; must not increase with the size.
using DistortionTable = std::function<double(Index)>;

/// The same for the costs eigenvalues_j distortion(N_j). Among optima the one with the
/// fewest points on later axes. Eigenvalues are nonnegative, in any order; only the
/// largest max_active_axes(point_budget) can get more than one point.
std::vector<Index> optimal_grid_sizes(ConstVectorRef eigenvalues, Index point_budget,
                                      const DistortionTable& distortion);

// Grid signatures of Gaussians. A signature here is an explicit coupling: with
// z = m + sum_d u_d xi_d + rest, xi_d independent N(0,1), independent of the rest, it
// replaces each xi_d by its quantizer and the rest by its mean. The mean-square error of
// coordinate i is then  Var z_i - sum_d (1 - D_d) u_di^2  whatever the directions (S.1): no
// eigenvector needs to be accurate for the bound to hold. With eigenvectors it is the
// paper's construction and its exact W2.

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
