// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// F_Y - Phi as a piecewise cubic on a grid, from its series: docs/theory/stein.md (Y.5), (Y.6).
#pragma once

#include <array>
#include <vector>

#include "certify/line_transform.h"

namespace mixcert {

inline constexpr Index kLineCellsPerUnit = 32;
inline constexpr double kLineCell = 1.0 / kLineCellsPerUnit;
/// The grid is y_i = i kLineCell, |i| <= kLineHalf.
inline constexpr Index kLineHalf = 7 * kLineCellsPerUnit + kLineCellsPerUnit / 4;

/// Of N(0,1) at y_i, i >= 0.
struct NormalGrid {
  NormalGrid();
  std::array<double, kLineHalf + 1> density, tail;
};
const NormalGrid& normal_grid();

/// One side of the line, seen as the upper one: at y_i for Y, or for -Y.
struct LineSide {
  std::vector<double> value;  ///< P(Y > y_i) - P(Z > y_i)
  std::vector<double> slope;  ///< density of Y less that of Z

  /// The cubic of cell i at y_i + t kLineCell, 0 <= t <= 1.
  [[nodiscard]] double between(std::size_t i, double t) const;
};

struct LineCurve {
  LineSide upper, lower;
  double error = 0.0;  ///< no less than |F_Y - Phi - cubics| on the whole range of the grid
};

LineCurve line_curve(const LineSeries& series);

/// What p outside of F_Y(y_i) adds to W2^2 on this side, by cells cut into `parts` each, i = 0 .. kLineHalf;
/// infinite where nothing is known (Y.7). `log_moment` is that of exp(order Y).
std::vector<double> line_tails(const LineSide& side, double error, double order, double log_moment,
                               int parts);

}  // namespace mixcert
