// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2 between points and a mixture of Gaussians on the line, docs/theory/dropout-laws.md (D.7): the mixture's
// mass is made uniform within narrow cells, and both laws are walked from their ends to the middle.
#include <algorithm>
#include <cmath>

#include "core/normal.h"
#include "theorems/output_law/lattice_law.h"

namespace mixcert {
namespace {

// Cells reach this many deviations from every component's mean; beyond lies less than 1e-23.
constexpr double kCellReach = 10.01;
constexpr double kSquareBeyond = 1e-24;
// Cells, and cells times components, about.
constexpr double kMostCells = 0x1.0p14;
constexpr double kFewestCells = 0x1.0p11;
constexpr double kCellWork = 0x1.0p20;
constexpr double kNarrowestCell = 0x1.0p-200;
// Up to this width, in deviations, uniform mass in a cell is close to a component's to second order.
constexpr double kSmoothWidth = 1.0 / 16.0;
// Relative error of a tail of the normal law: erfc and its argument, up to 39 deviations; below that nothing.
constexpr double kTailError = 7000.0 * kUnitRoundoff;
constexpr double kTailReach = 39.0;

/// A mixture whose mass is uniform in each cell: cell i is [first + i step, first + (i + 1) step], `below` is
/// P(x <= its right end), `above` P(x >= its left end).
struct CellLaw {
  PointLaw cells;
  double moved = 0.0;      ///< W2 between it and the mixture
  double deviation = 0.0;  ///< root of its mean square
};

/// The window of cells, in units; `step` is a power of two, and ends are multiples of it.
struct CellWindow {
  double low = 0.0, step = 0.0;
  std::size_t count = 0;
};

CellWindow cell_window(const LineGaussians& mixture) {
  CellWindow window;
  if (mixture.weights.empty()) return window;
  double low = INFINITY, high = -INFINITY;
  for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
    low = std::min(low, mixture.means[k] - kCellReach * mixture.deviations[k]);
    high = std::max(high, mixture.means[k] + kCellReach * mixture.deviations[k]);
  }
  const double wanted =
      std::clamp(kCellWork / static_cast<double>(mixture.weights.size()), kFewestCells, kMostCells);
  if (!(high - low < 0x1.0p1000)) return window;
  window.step = std::max(kNarrowestCell, std::ldexp(1.0, std::ilogb((high - low) / wanted)));
  window.low = window.step * (std::floor(low / window.step) - 1.0);
  window.count = static_cast<std::size_t>((high - window.low) / window.step) + 2;
  return window;
}

/// What one component adds to the cells' tails.
void add_component(double weight, double mean, double deviation, const CellWindow& window, PointLaw& cells) {
  for (std::size_t i = 0; i <= window.count; ++i) {
    const double distance = window.low + window.step * static_cast<double>(i) - mean;
    double smaller = 0.0;  // of both tails
    if (std::abs(distance) < kTailReach * deviation)
      smaller = weight * normal_tail(std::abs(distance) / deviation);
    const double larger = weight - smaller;
    // Mass at an end belongs to the cell on its left.
    const bool is_right = distance >= 0.0;
    if (i > 0) cells.below[i - 1] += is_right ? larger : smaller;
    if (i < window.count) cells.above[i] += is_right ? smaller : larger;
  }
}

/// No less than the mean square of what making the component uniform in cells moves.
double uniform_cost(double deviation, double step) {
  const double beyond = kSquareBeyond * deviation * deviation;
  if (!(step <= kSmoothWidth * deviation)) return step * step + beyond;
  const double second_order = 0.25 * step * (step / deviation);
  return second_order * second_order + beyond;
}

CellLaw cell_law(const LineGaussians& mixture) {
  CellLaw law;
  const CellWindow window = cell_window(mixture);
  law.cells.first = window.low;
  law.cells.step = window.step;
  law.cells.below.assign(window.count, 0.0);
  law.cells.above.assign(window.count, 0.0);
  double cost = 0.0, squares = 0.0;
  for (std::size_t k = 0; k < mixture.weights.size() && window.count > 0; ++k) {
    const double weight = mixture.weights[k], mean = mixture.means[k], deviation = mixture.deviations[k];
    add_component(weight, mean, deviation, window, law.cells);
    cost += weight * uniform_cost(deviation, window.step);
    squares += weight * (mean * mean + deviation * deviation);
  }
  if (window.count == 0) return law;
  // Everything outside of the window is in the first and in the last cell; tails never grow outwards.
  law.cells.above.front() = law.cells.below.back() = 1.0;
  for (std::size_t i = 1; i < window.count; ++i) {
    law.cells.below[i] = std::max(law.cells.below[i], law.cells.below[i - 1]);
    const std::size_t back = window.count - 1 - i;
    law.cells.above[back] = std::max(law.cells.above[back], law.cells.above[back + 1]);
  }
  law.moved = enlarged(std::sqrt(cost));
  law.deviation = enlarged(std::sqrt(squares)) + window.step;
  return law;
}

/// One side of the line, seen from its end: tail i of the points and of the cells.
struct OneSide {
  const PointLaw& points;
  const PointLaw& cells;
  bool is_upper;

  [[nodiscard]] std::size_t place(const PointLaw& law, std::size_t i) const {
    return is_upper ? law.below.size() - 1 - i : i;
  }
  [[nodiscard]] double tail(const PointLaw& law, std::size_t i) const {
    // Nothing lies behind the last one.
    if (i + 1 >= law.below.size()) return 1.0;
    return is_upper ? law.above[place(law, i)] : law.below[i];
  }
  /// The outer end of cell i, and the way inwards.
  [[nodiscard]] double outer_end(std::size_t i) const {
    return cells.point(place(cells, i)) + (is_upper ? cells.step : 0.0);
  }
};

/// Integral over probabilities from 0 to 1/2 of the squared distance between the quantiles.
double half_cost(const OneSide& side) {
  std::size_t i = 0, j = 0;
  double level = 0.0, cost = 0.0, cell_start = 0.0;
  while (level < 0.5) {
    const double point_tail = side.tail(side.points, i), cell_tail = side.tail(side.cells, j);
    const double next = std::min({point_tail, cell_tail, 0.5});
    if (next > level) {
      const double inwards = side.is_upper ? -side.cells.step : side.cells.step;
      const double mass = cell_tail - cell_start;
      const double from = (level - cell_start) / mass, to = (next - cell_start) / mass;
      const double middle = side.outer_end(j) + inwards * (0.5 * (from + to));
      const double width = inwards * (to - from);
      const double apart = middle - side.points.point(side.place(side.points, i));
      cost += (next - level) * (apart * apart + width * width / 12.0);
      level = next;
    }
    if (point_tail <= level) ++i;
    if (cell_tail <= level) {
      cell_start = std::max(cell_start, cell_tail);
      ++j;
    }
  }
  return cost;
}

/// In units of 2^exponent, with weights that add up to one; empty where something is no number.
LineGaussians gaussians_in_units(const LineGaussians& mixture, int exponent) {
  LineGaussians scaled = mixture;
  double total = 0.0;
  for (const double weight : mixture.weights) total += weight;
  for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
    scaled.weights[k] /= total;
    scaled.means[k] = std::ldexp(mixture.means[k], -exponent);
    scaled.deviations[k] = std::ldexp(mixture.deviations[k], -exponent);
    const bool is_good = std::isfinite(scaled.weights[k]) && std::isfinite(scaled.means[k]) &&
                         std::isfinite(scaled.deviations[k]) && scaled.deviations[k] >= 0.0;
    if (!is_good) return {};
  }
  return scaled;
}

/// What relative and absolute errors of tails cost in W2, by the mean square and the reach of the law.
double tail_error_cost(double error, double lost, double deviation, double reach) {
  return enlarged(std::sqrt(2.1 * error) * deviation + 2.0 * std::sqrt(lost) * reach);
}

}  // namespace

UpperBound distance_to_gaussians(const LatticeLaw& law, const LineGaussians& mixture) {
  const CellLaw cells = cell_law(gaussians_in_units(mixture, law.exponent));
  if (cells.cells.below.empty()) return {INFINITY, INFINITY};
  const double cost =
      half_cost({law.points, cells.cells, false}) + half_cost({law.points, cells.cells, true});
  const double apart = std::sqrt(cost);
  const auto reach_of = [](const PointLaw& one) {
    return std::max(std::abs(one.first), std::abs(one.point(one.below.size())));
  };
  const double reach = reach_of(law.points), cell_reach = reach_of(cells.cells);
  const auto components = static_cast<Index>(mixture.weights.size());
  double off = law.moved + cells.moved + tail_error_cost(law.error, law.lost, law.deviation, reach);
  off +=
      tail_error_cost(kTailError + rounding_gamma(2 * components + 16), 1e-300, cells.deviation, cell_reach);
  // Places of points and of parts of cells, and numbers that vanish.
  off += 64.0 * kUnitRoundoff * (reach + cell_reach) + 1e-130;
  const double total = enlarged(apart) + enlarged(off);
  if (!(total < INFINITY)) return {INFINITY, INFINITY};
  return {std::ldexp(apart, law.exponent), next_up(std::ldexp(next_up(total), law.exponent))};
}

}  // namespace mixcert
