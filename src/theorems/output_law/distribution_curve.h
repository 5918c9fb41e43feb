// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// F_Y - Phi as a piecewise cubic on a grid, from its series: docs/theory/stein.md (Y.5), (Y.6).
#pragma once

#include <vector>

#include "theorems/output_law/distribution_series.h"

namespace mixcert {

/// Grids reach from -kGridRange to kGridRange.
inline constexpr double kGridRange = 6.5;
/// Cells per unit of length of the two grids. Periods are multiples of the wider cell.
inline constexpr int kCoarseCells = 16;
inline constexpr int kFineCells = 32;

/// Cells of tails are cut into this many parts.
inline constexpr int kTailParts = 4;

/// N(0,1) at y_i = i cell, 0 <= y_i <= kGridRange.
struct NormalGrid {
  explicit NormalGrid(int cells_per_unit);

  double cell;
  std::size_t last;  ///< y_last = kGridRange
  std::vector<double> density, tail;
  std::vector<double> fine_tail;  ///< at i cell / kTailParts
};
/// `cells_per_unit` is one of the two above.
const NormalGrid& normal_grid(int cells_per_unit);

/// One side of the line, seen as the upper one: at y_i for Y, or for -Y.
struct DistributionSide {
  const NormalGrid* grid = nullptr;
  std::vector<double> value;  ///< P(Y > y_i) - P(Z > y_i)
  std::vector<double> slope;  ///< density of Y less that of Z

  /// The cubic of cell i at y_i + t cell, 0 <= t <= 1.
  [[nodiscard]] double between(std::size_t i, double t) const;
};

struct DistributionCurve {
  DistributionSide upper, lower;
  double error = 0.0;  ///< no less than |F_Y - Phi - cubics| on the whole range of the grid
};

DistributionCurve distribution_curve(const DistributionSeries& series);

}  // namespace mixcert
