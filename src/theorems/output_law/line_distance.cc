// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From the curve of F_Y - F_Z to W2(Y, Z): docs/theory/stein.md. In the middle F_Z is carried to a function
// that differs from it by a piecewise cubic, along the straight line between the two (Y.5); what separates
// that one from F_Y costs its inverse density (Y.6); tails go cell by cell, and beyond the grid by moments
// (Y.7).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "theorems/output_law/distribution.h"

namespace mixcert {
namespace {

/// Density of the cubic over that of Z: no less in cells that are used.
constexpr double kLeastRatio = 1e-3;
/// A sum this much above the best one is beyond it.
constexpr double kGrown = 1.02;
/// Up to here the geometric mean is the logarithmic one up to 1e-4 of itself.
constexpr double kNearOne = 0.05;
/// What the cells of one side add, from the inside out.
struct Cells {
  std::vector<double> transport;  ///< integral of D^2 / log-mean density, up to node i
  std::vector<double> inverse;    ///< integral of 1 / density, up to node i
  std::size_t positive = 0;       ///< the density is positive up to this node
};

/// Gauss points of [0, 1], exact for degree 7, and the cubics of Hermite's interpolation there.
struct GaussPoints {
  static constexpr std::array<double, 2> kNodes = {0.3399810435848562648, 0.8611363115940525752};
  static constexpr std::array<double, 2> kWeights = {0.6521451548625461426, 0.3478548451374538574};
  struct Point {
    double t, weight;
    double left, left_slope, right, right_slope;  ///< factors of values, and of slopes times the width
  };
  std::array<Point, 4> points;

  GaussPoints() {
    for (std::size_t n = 0; n < 4; ++n) {
      const double t = 0.5 + (n % 2 == 0 ? -0.5 : 0.5) * kNodes[n / 2];
      const double r = 1.0 - t;
      points[n] = {t,         0.5 * kWeights[n / 2],   r * r * (1.0 + 2.0 * t),
                   r * r * t, t * t * (1.0 + 2.0 * r), -t * t * r};
    }
  }
};

/// Integral over a cell of (cubic)^2 times a linear function, by a rule that is exact for degree 7.
double square_integral(const DistributionSide& side, std::size_t i, double left, double right) {
  static const GaussPoints gauss;
  const double cell = side.grid->cell;
  // The value falls by the slope's integral.
  const double v0 = side.value[i], v1 = side.value[i + 1];
  const double d0 = -cell * side.slope[i], d1 = -cell * side.slope[i + 1];
  double sum = 0.0;
  for (const GaussPoints::Point& p : gauss.points) {
    const double value = p.left * v0 + p.left_slope * d0 + p.right * v1 + p.right_slope * d1;
    sum += p.weight * value * value * (left + p.t * (right - left));
  }
  // The second part is for the rounding of the cubic's value.
  const double size = std::abs(v0) + std::abs(v1) + std::abs(side.slope[i]) + std::abs(side.slope[i + 1]);
  return cell * (sum + 1e-14 * size * size * (left + right));
}

/// No more than the logarithmic mean of 1 and `ratio`, which is at least the geometric one.
double mean_with_one(double ratio) {
  const double geometric = std::sqrt(ratio);
  if (std::abs(ratio - 1.0) < kNearOne) return geometric;
  return std::max(geometric, (ratio - 1.0) / std::log(ratio) * (1.0 - 1e-12));
}

Cells cells_of(const DistributionSide& side) {
  const LineGrid& grid = *side.grid;
  Cells cells;
  cells.transport.assign(grid.last + 1, 0.0);
  cells.inverse.assign(grid.last + 1, 0.0);
  for (std::size_t i = 0; i < grid.last; ++i) {
    const double s0 = side.slope[i], s1 = side.slope[i + 1];
    // Bernstein coefficients of the interpolant's slope.
    const double middle = 3.0 * (side.value[i] - side.value[i + 1]) / grid.cell - s0 - s1;
    const double sizes = std::abs(s0) + std::abs(s1) + std::abs(side.value[i]) + std::abs(side.value[i + 1]);
    const double least = std::min({s0, middle, s1}) - 1e-13 * (sizes + std::abs(middle));
    // No more than the density over that of Z.
    const double ratio = reduced(1.0 + least / (least < 0.0 ? grid.least[i] : grid.most[i])) - 1e-9;
    if (!(ratio > kLeastRatio)) break;
    const double left = grid.inverse_left[i], right = grid.inverse_right[i];
    cells.transport[i + 1] =
        cells.transport[i] + square_integral(side, i, left, right) / mean_with_one(ratio);
    cells.inverse[i + 1] = cells.inverse[i] + 0.5 * grid.cell * (left + right) / ratio;
    cells.positive = i + 1;
  }
  return cells;
}

/// May what Y has up to y_a be carried inside of y_b?
bool covers(const DistributionSide& side, double error, std::size_t a, std::size_t b) {
  const LineGrid& grid = *side.grid;
  const double inner = grid.tail[a] + side.value[a];
  const double outer = grid.tail[b] + side.value[b];
  const double rounding = 1e-9 * grid.tail[a];
  return inner - outer >= 2.0 * error + rounding && inner - error - rounding >= grid.tail[b];
}

/// Where the middle ends on one side, and what both parts then add.
struct End {
  double transport = INFINITY, inverse = INFINITY, tail = INFINITY;
};

/// The end that makes the square of the sum smallest, its middle being about `middle` squared. From the
/// outside in, until sums grow.
End best_end(const DistributionSide& side, const Cells& cells, DistributionTail tail, double error,
             double middle) {
  End best;
  double least = INFINITY;
  do {
    const std::size_t a = tail.node();
    std::size_t b = a + 1;
    while (b <= cells.positive && !covers(side, error, a, b)) ++b;
    if (b > cells.positive) continue;
    const double left = error * std::sqrt(2.0 * cells.inverse[b]);
    const double sum = cells.transport[b] + (2.0 * middle + left) * left + tail.cost();
    if (sum > kGrown * least) break;
    if (!(sum < least)) continue;
    least = sum;
    best = {cells.transport[b], cells.inverse[b], tail.cost()};
  } while (tail.cost() < least && tail.step_inward());
  return best;
}

UpperBound sum_of(const End& upper, const End& lower, double error) {
  const double carried = upper.transport + lower.transport;
  const double root = std::sqrt(carried) + error * std::sqrt(2.0 * (upper.inverse + lower.inverse));
  const double total = enlarged(enlarged(std::sqrt(root * root + upper.tail + lower.tail)));
  return {std::sqrt(carried + upper.tail + lower.tail), total};
}

/// W2^2 of the part within three deviations, about.
double middle_of(const DistributionSide& side, const Cells& cells) {
  const auto end = static_cast<std::size_t>(std::llround(3.0 / side.grid->cell));
  return cells.transport[std::min(cells.positive, end)];
}

}  // namespace

ComputedLaw computed_law(const OutputLaw& law) {
  const DistributionSeries series = distribution_series(law, 1.0 / kCoarseCells);
  if (!series.exists) return {};
  return {true, distribution_curve(series), series.tails};
}

UpperBound line_distance(const DistributionCurve& curve, const std::vector<TailMoments>& tails) {
  SideMoments plus, minus;
  for (const TailMoments& one : tails) {
    plus.push_back({one.order, one.log_plus});
    minus.push_back({one.order, one.log_minus});
  }
  const Cells upper_cells = cells_of(curve.upper);
  const Cells lower_cells = cells_of(curve.lower);
  const double middle = std::sqrt(middle_of(curve.upper, upper_cells) + middle_of(curve.lower, lower_cells));
  const auto end = [&](const DistributionSide& side, const Cells& cells, const SideMoments& moments) {
    const DistributionTail tail(side, curve.error, moments);
    return best_end(side, cells, tail, curve.error, middle);
  };
  return sum_of(end(curve.upper, upper_cells, plus), end(curve.lower, lower_cells, minus), curve.error);
}

UpperBound distance_to_normal(const ComputedLaw& law) {
  return law.exists ? line_distance(law.curve, law.tails) : UpperBound{INFINITY, INFINITY};
}

}  // namespace mixcert
