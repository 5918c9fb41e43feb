// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Laws that Y is compared with on a grid: N(0,1) once and for all, and mixtures (Y.40).
#include <algorithm>
#include <cmath>
#include <map>

#include "core/normal.h"
#include "theorems/output_law/line_mixture.h"

namespace mixcert {
namespace {

LineGrid make_normal_grid(int cells_per_unit, double range) {
  LineGrid grid;
  grid.cell = 1.0 / cells_per_unit;
  grid.last = static_cast<std::size_t>(std::llround(range * cells_per_unit));
  grid.components = {{1.0, 0.0, 1.0}};
  for (std::size_t i = 0; i <= grid.last; ++i) {
    const double y = grid.cell * static_cast<double>(i);
    grid.density.push_back(normal_density(y));
    grid.tail.push_back(normal_tail(y));
  }
  // The density falls, and its inverse is convex.
  grid.most = grid.density;
  grid.least.assign(grid.density.begin() + 1, grid.density.end());
  for (const double density : grid.density) grid.inverse_left.push_back(enlarged(1.0 / density));
  grid.inverse_right.assign(grid.inverse_left.begin() + 1, grid.inverse_left.end());
  return grid;
}

/// With all cells that are used, and with cells half as wide.
class NormalGrids {
 public:
  explicit NormalGrids(double range) {
    for (const int cells : kCells) {
      for (const int used : {cells, 2 * cells}) grids_.try_emplace(used, make_normal_grid(used, range));
    }
  }
  [[nodiscard]] const LineGrid& with(int cells_per_unit) const { return grids_.at(cells_per_unit); }

 private:
  std::map<int, LineGrid> grids_;
};

/// One side of a mixture. Sums are of positive numbers, each with a few roundings.
LineGrid mixture_side(const UnitMixture& mixture, double cell, std::size_t last, double sign) {
  LineGrid grid;
  grid.cell = cell;
  grid.last = last;
  grid.density.assign(last + 1, 0.0);
  grid.tail.assign(last + 1, 0.0);
  grid.least.assign(last, 0.0);
  grid.most.assign(last, INFINITY);
  for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
    const LineGrid::Component one{mixture.weights[k], sign * mixture.means[k], mixture.deviations[k]};
    grid.components.push_back(one);
    double before = 0.0;
    for (std::size_t i = 0; i <= last; ++i) {
      const double place = one.place(cell * static_cast<double>(i));
      const double density = one.weight * normal_density(place) / one.deviation;
      grid.density[i] += density;
      grid.tail[i] += one.weight * normal_tail(place);
      // A Gaussian has its smallest density of an interval at one of the ends.
      if (i > 0) grid.least[i - 1] += reduced(std::min(before, density));
      before = density;
    }
  }
  for (const double least : grid.least) grid.inverse_left.push_back(enlarged(1.0 / reduced(least)));
  grid.inverse_right = grid.inverse_left;
  return grid;
}

/// P(Y > y) less that of the grid's law, in place of that of N(0,1); cells are half as wide as those of
/// `side`.
DistributionSide relative_side(const DistributionSide& side, const LineGrid& normal, const LineGrid& grid) {
  DistributionSide relative{&grid, {}, {}};
  for (std::size_t i = 0; i <= grid.last; ++i) {
    const bool is_node = i % 2 == 0;
    const double value = is_node ? side.value[i / 2] : side.between(i / 2, 0.5);
    const double slope = is_node ? side.slope[i / 2] : side.slope_at_middle(i / 2);
    relative.value.push_back(value + normal.tail[i] - grid.tail[i]);
    relative.slope.push_back(slope + normal.density[i] - grid.density[i]);
  }
  return relative;
}

}  // namespace

LineGrid::Point LineGrid::at(double y) const {
  Point point;
  for (const Component& one : components) {
    const double place = one.place(y), own = one.weight * normal_tail(place);
    const double own_rate = reduced(place / one.deviation);
    point.tail += own;
    point.rate = std::min(point.rate, own_rate);
    if (!(own > point.back_tail)) continue;
    point.back_tail = own;
    point.back_rate = own_rate;
    point.back_scale = one.deviation;
  }
  return point;
}

double LineGrid::square_beyond(double y) const {
  double sum = 0.0;
  for (const Component& one : components) {
    const double place = one.place(y);
    if (!(place > 0.0)) return INFINITY;
    const double ratio = one.deviation / place;
    sum += 2.0 * one.weight * normal_tail(place) * ratio * ratio;
  }
  return enlarged(sum);
}

const LineGrid& normal_grid(int cells_per_unit, double range) {
  static const NormalGrids usual(kGridRange), wide(kWideRange);
  return (range > kGridRange ? wide : usual).with(cells_per_unit);
}

UpperBound distance_to_mixture(const ComputedLaw& law, const UnitMixture& mixture) {
  if (!law.exists) return {INFINITY, INFINITY};
  // Half as wide, because cubics now take the place of F_Z - Phi too; its fourth derivative is known.
  const LineGrid& given = *law.curve.upper.grid;
  const double cell = 0.5 * given.cell;
  const LineGrid& normal =
      normal_grid(static_cast<int>(std::llround(1.0 / cell)), given.cell * static_cast<double>(given.last));
  const LineGrid upper = mixture_side(mixture, cell, normal.last, 1.0);
  const LineGrid lower = mixture_side(mixture, cell, normal.last, -1.0);
  double fourth = 1.0;
  for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
    const double square = mixture.deviations[k] * mixture.deviations[k];
    fourth += mixture.weights[k] / (square * square);
  }
  const double interpolation = cell * cell * cell * cell / 384.0 * kNormalFourth * fourth;
  DistributionCurve curve{relative_side(law.curve.upper, normal, upper),
                          relative_side(law.curve.lower, normal, lower)};
  curve.error = enlarged(law.curve.error + interpolation) + 1e-14 * fourth;
  return line_distance(curve, law.tails);
}

}  // namespace mixcert
