// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From the series of F_Y - Phi to W2(Y, N(0,1)): docs/theory/stein.md. In the middle Phi is carried to a
// piecewise cubic distribution function along the straight line between the two (Y.5); what separates that
// one from F_Y costs its inverse density (Y.6); tails go cell by cell, and beyond the grid by moments (Y.7).
#include "certify/line_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "certify/line_curve.h"

namespace mixcert {
namespace {

/// Density of the cubic over that of N(0,1): no less in cells that are used.
constexpr double kLeastRatio = 1e-3;
/// Cells of tails are cut into parts where tails make more than this share.
constexpr double kTailShare = 0.02;
constexpr int kTailParts = 8;

/// What the cells of one side add, from the inside out.
struct Cells {
  std::vector<double> transport;  ///< integral of D^2 / log-mean density, up to node i
  std::vector<double> inverse;    ///< integral of 1 / density, up to node i
  Index positive = 0;             ///< the density is positive up to this node
};

/// Integral over a cell of (cubic)^2 times a linear function, by a rule that is exact for degree 7.
double square_integral(const LineSide& side, std::size_t i, double left, double right) {
  constexpr std::array<double, 2> nodes = {0.3399810435848562648, 0.8611363115940525752};
  constexpr std::array<double, 2> weights = {0.6521451548625461426, 0.3478548451374538574};
  double sum = 0.0;
  for (std::size_t n = 0; n < 2; ++n) {
    for (const double sign : {-1.0, 1.0}) {
      const double t = 0.5 + 0.5 * sign * nodes[n];
      const double value = side.between(i, t);
      sum += weights[n] * value * value * ((1.0 - t) * left + t * right);
    }
  }
  // The second part is for the rounding of the cubic's value.
  const double size = std::abs(side.value[i]) + std::abs(side.value[i + 1]) + std::abs(side.slope[i]) +
                      std::abs(side.slope[i + 1]);
  return 0.5 * kLineCell * (sum + 1e-14 * size * size * (left + right));
}

/// No more than the logarithmic mean of 1 and `ratio`, which is at least the geometric one.
double mean_with_one(double ratio) {
  const double geometric = std::sqrt(ratio);
  if (std::abs(ratio - 1.0) < 0.01) return geometric;
  return std::max(geometric, (ratio - 1.0) / std::log(ratio) * (1.0 - 1e-12));
}

Cells cells_of(const LineSide& side) {
  const NormalGrid& normal = normal_grid();
  Cells cells;
  cells.transport.assign(kLineHalf + 1, 0.0);
  cells.inverse.assign(kLineHalf + 1, 0.0);
  for (std::size_t i = 0; i < kLineHalf; ++i) {
    const double high = normal.density[i], low = normal.density[i + 1];
    const double s0 = side.slope[i], s1 = side.slope[i + 1];
    // Bernstein coefficients of the interpolant's slope.
    const double middle = 3.0 * (side.value[i] - side.value[i + 1]) / kLineCell - s0 - s1;
    const double sizes = std::abs(s0) + std::abs(s1) + std::abs(side.value[i]) + std::abs(side.value[i + 1]);
    const double least = std::min({s0, middle, s1}) - 1e-13 * (sizes + std::abs(middle));
    // No more than density / normal density.
    const double ratio = (1.0 + least / (least < 0.0 ? low : high)) * (1.0 - 1e-9) - 1e-9;
    if (!(ratio > kLeastRatio)) break;
    const double left = kSafety / high, right = kSafety / low;
    cells.transport[i + 1] =
        cells.transport[i] + square_integral(side, i, left, right) / mean_with_one(ratio);
    cells.inverse[i + 1] = cells.inverse[i] + 0.5 * kLineCell * (left + right) / ratio;
    cells.positive = static_cast<Index>(i) + 1;
  }
  return cells;
}

/// May what Y has up to y_a be carried inside of y_b?
bool covers(const LineSide& side, double error, std::size_t a, std::size_t b) {
  const NormalGrid& normal = normal_grid();
  const double inner = normal.tail[a] + side.value[a];
  const double outer = normal.tail[b] + side.value[b];
  const double rounding = 1e-9 * normal.tail[a];
  return inner - outer >= 2.0 * error + rounding && inner - error - rounding >= normal.tail[b];
}

/// Where the middle ends on one side, and what both parts then add.
struct End {
  double transport = INFINITY, inverse = INFINITY, tail = INFINITY;
};

/// The end that makes the square of the sum smallest, its middle being about `middle` squared.
End best_end(const LineSide& side, const Cells& cells, const std::vector<double>& tails, double error,
             double middle) {
  End best;
  double least = INFINITY;
  const auto positive = static_cast<std::size_t>(cells.positive);
  std::size_t b = 0;
  for (std::size_t a = kLineCellsPerUnit; a < positive; ++a) {
    b = std::max(b, a + 1);
    while (b <= positive && !covers(side, error, a, b)) ++b;
    if (b > positive) break;
    const double left = error * std::sqrt(2.0 * cells.inverse[b]);
    const double sum = cells.transport[b] + (2.0 * middle + left) * left + tails[a];
    if (!(sum < least)) continue;
    least = sum;
    best = {cells.transport[b], cells.inverse[b], tails[a]};
  }
  return best;
}

Upper sum_of(const End& upper, const End& lower, double error) {
  const double carried = upper.transport + lower.transport;
  const double root = std::sqrt(carried) + error * std::sqrt(2.0 * (upper.inverse + lower.inverse));
  const double total = std::sqrt(root * root + upper.tail + lower.tail) * (kSafety * kSafety);
  return {std::sqrt(carried + upper.tail + lower.tail), total};
}

/// W2^2 of the part within three deviations, about.
double middle_of(const Cells& upper, const Cells& lower) {
  const auto at = [](const Cells& cells) {
    return cells.transport[static_cast<std::size_t>(std::min(cells.positive, 3 * kLineCellsPerUnit))];
  };
  return at(upper) + at(lower);
}

/// Both ends, with tails cut into `parts`.
Upper distance_by_parts(const LineCurve& curve, const LineTails& tails, int parts, double& tail_share) {
  const Cells upper_cells = cells_of(curve.upper);
  const Cells lower_cells = cells_of(curve.lower);
  const double middle = std::sqrt(middle_of(upper_cells, lower_cells));
  const auto end = [&](const LineSide& side, const Cells& cells, double log_moment) {
    const auto costs = line_tails(side, curve.error, tails.order, log_moment, parts);
    return best_end(side, cells, costs, curve.error, middle);
  };
  const End upper = end(curve.upper, upper_cells, tails.log_plus);
  const End lower = end(curve.lower, lower_cells, tails.log_minus);
  const Upper sum = sum_of(upper, lower, curve.error);
  tail_share = (upper.tail + lower.tail) / (sum.upper * sum.upper);
  return sum;
}

}  // namespace

Upper line_distance(const LineLaw& law) {
  const LineSeries series = line_series(law, kLineCell * static_cast<double>(kLineHalf), kLineCell);
  if (!series.exists) return {INFINITY, INFINITY};
  const LineCurve curve = line_curve(series);
  double tail_share = 0.0;
  const Upper sum = distance_by_parts(curve, series.tails, 1, tail_share);
  if (!(tail_share > kTailShare)) return sum;
  return min(sum, distance_by_parts(curve, series.tails, kTailParts, tail_share));
}

}  // namespace mixcert
