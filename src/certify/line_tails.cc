// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tails of the comparison of Y with Z, cell by cell from monotone quantiles alone: docs/theory/stein.md
// (Y.7).
#include <algorithm>
#include <cmath>

#include "certify/line_curve.h"
#include "mixcert/core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// E[Y^2; Y > y] <= min over z of z^2 (P(Y > y) + exp(log_moment - order z)).
double second_moment_beyond(double y, double probability, double order, double log_moment) {
  double best = INFINITY;
  for (double z = y; z < 200.0; z = 1.1 * z + 0.1) {
    if (order * z < 2.0) continue;
    best = std::min(best, z * z * (probability + std::exp(log_moment - order * z)));
  }
  return best;
}

/// What is known of P(Y > y) and of T(y) = PhiInv(F_Y(y)).
struct TailPoint {
  double y, lower, upper;
  double up, down;  ///< y - down <= T(y) <= y + up

  /// From P(Z > y), the change of it, and the error of that.
  TailPoint(double at, double normal, double change, double error)
      : y(at),
        lower(normal * (1.0 - 1e-9) + change - error * kSafety),
        upper((normal + change + error) * kSafety) {
    // Roots of y t + t^2/2 = log(normal / lower) and of y t - t^2/2 = log(upper / normal).
    const double fall = lower > 0.0 ? std::max(0.0, std::log(normal / lower)) : INFINITY;
    up = 2.0 * fall / (y + std::sqrt(y * y + 2.0 * fall)) * kSafety + 1e-9;
    const double rise = std::max(0.0, std::log(upper / normal));
    const double rest = y * y - 2.0 * rise;
    down = rest <= 0.0 ? y : std::min(y, 2.0 * rise / (y + std::sqrt(rest)) * kSafety + 1e-9);
  }
  [[nodiscard]] bool is_known() const { return lower > 0.0 && upper < 0.5; }
};

double cell_cost(const TailPoint& a, const TailPoint& b) {
  const double gap = b.y - a.y + std::max(a.down, b.up);
  return std::max(0.0, a.upper - b.lower) * gap * gap * kSafety;
}

/// The cell from node i on, cut into parts.
double cell_cost(const LineSide& side, std::size_t i, const TailPoint& a, const TailPoint& b, double error,
                 int parts) {
  double sum = 0.0;
  TailPoint last = a;
  for (int k = 1; k < parts; ++k) {
    const double t = static_cast<double>(k) / parts;
    const double y = a.y + t * kLineCell;
    const TailPoint next(y, normal_tail(y), side.between(i, t), error);
    sum += cell_cost(last, next);
    last = next;
  }
  return sum + cell_cost(last, b);
}

}  // namespace

std::vector<double> line_tails(const LineSide& side, double error, double order, double log_moment,
                               int parts) {
  const NormalGrid& normal = normal_grid();
  std::vector<double> cost(kLineHalf + 1, INFINITY);
  const auto point = [&](std::size_t i) {
    return TailPoint(kLineCell * static_cast<double>(i), normal.tail[i], side.value[i], error);
  };
  std::size_t i = kLineCellsPerUnit;
  while (i < kLineHalf && normal.tail[i + 1] * (1.0 - 1e-9) + side.value[i + 1] > error * kSafety) ++i;
  TailPoint outer = point(i);
  if (!outer.is_known()) return cost;
  const double x = outer.y - outer.down;
  cost[i] = (x * normal_density(x) + normal_tail(x) +
             second_moment_beyond(outer.y, outer.upper, order, log_moment)) *
            kSafety;
  while (i > static_cast<std::size_t>(kLineCellsPerUnit)) {
    --i;
    const TailPoint inner = point(i);
    if (!inner.is_known()) break;
    cost[i] = cost[i + 1] + cell_cost(side, i, inner, outer, error, parts);
    outer = inner;
  }
  return cost;
}

}  // namespace mixcert
