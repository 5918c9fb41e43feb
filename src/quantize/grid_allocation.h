// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How many points each axis of a product grid gets.
#pragma once

#include <functional>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

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

}  // namespace mixcert
