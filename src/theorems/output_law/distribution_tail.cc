// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Monotone quantiles alone bound what a cell of a tail adds: docs/theory/stein.md (Y.7).
#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"
#include "theorems/output_law/distribution.h"

namespace mixcert {
namespace {

// The outermost node is one whose probability is known to this part of itself from below.
constexpr double kLeastKnown = 0.1;
// Up to here log x is x - 1, about.
constexpr double kNearRatio = 1.05;

/// E[(Y - x)^2; Y > y], x <= y, by (z - x)^2 (P(Y > y) + exp(log - order z)) for a few z.
double square_beyond(const TailPoint& at, double x, const SideMoment& moment) {
  const double order = moment.order, log_moment = moment.log;
  const double least = enlarged(larger_or_nan(at.y, x + 2.0 / order));
  // Where both terms are equal, and farther out.
  double z = larger_or_nan(least, (log_moment - std::log(at.upper)) / order);
  double best = INFINITY;
  for (int i = 0; i < 4; ++i) {
    const double distance = z - x;
    best = std::min(best, distance * distance * (at.upper + std::exp(log_moment - order * z)));
    z += 1.0 / order;
  }
  return best;
}

/// By the moment that is best for it.
double square_beyond(const TailPoint& at, double x, const SideMoments& moments) {
  double best = INFINITY;
  for (const SideMoment& moment : moments) best = std::min(best, square_beyond(at, x, moment));
  return best;
}

/// No less than the logarithm of `ratio`, or than 0.
double logarithm(double ratio) {
  if (ratio <= 1.0) return 0.0;
  return enlarged(ratio < kNearRatio ? ratio - 1.0 : std::log(ratio));
}

double cell_cost(const TailPoint& a, const TailPoint& b) {
  const double gap = b.y - a.y + larger_or_nan(a.down, b.up);
  return enlarged(positive_part(a.upper - b.lower) * gap * gap);
}

std::size_t outermost(const DistributionSide& side, double error) {
  const LineGrid& grid = *side.grid;
  std::size_t i = grid.last;
  const auto unit = static_cast<std::size_t>(std::llround(1.0 / grid.cell));
  while (i > unit && grid.tail[i] * (1.0 - kLeastKnown) + side.value[i] <= error) --i;
  return i;
}

}  // namespace

TailPoint::TailPoint(const LineGrid& grid, std::size_t fine, double change, double error)
    : y(grid.cell / kTailParts * static_cast<double>(fine)) {
  const LineGrid::Point point = grid.at(y);
  const double tail = point.tail, rate = point.rate;
  lower = reduced(tail) + change - enlarged(error);
  upper = enlarged(tail + change + error);
  known = rate > 0.0 && lower > 0.0 && upper < grid.tail[0];
  // No less than the roots of rate t = log(tail / lower) and of rate t - t^2/(2 scale^2) = log(upper / tail).
  const double fall = lower > 0.0 ? logarithm(tail / lower) : INFINITY;
  up = enlarged(fall / rate) + 1e-9;
  const double rise = logarithm(upper / point.back_tail);
  const double steep = point.back_rate * point.back_scale;
  const double square = steep * steep;
  const double rest = square - rise;
  // P(Z > 0) is above `upper`: T(y) >= 0.
  const bool is_near = point.back_rate > 0.0 && rest > rise;
  down = is_near ? std::min(y, enlarged(rise / point.back_rate * square / rest) + 1e-9) : y;
}

DistributionTail::DistributionTail(const DistributionSide& side, double error, const SideMoments& moments)
    : side_(side), error_(error), node_(outermost(side, error)), at_(point(node_)), cost_(INFINITY) {
  if (!at_.is_known()) return;
  // Both quantiles lie beyond x, that of Y beyond y: E[(Y - x)^2; Y > y] + E (Z - y)_+^2.
  const double x = at_.y - at_.down;
  cost_ = enlarged(square_beyond(at_, x, moments) + side.grid->square_beyond(at_.y));
}

TailPoint DistributionTail::point(std::size_t i) const {
  return {*side_.grid, i * kTailParts, side_.value[i], error_};
}

bool DistributionTail::step_inward() {
  const double cell = side_.grid->cell;
  if (static_cast<double>(node_) * cell <= 1.0 || !(cost_ < INFINITY)) return false;
  const TailPoint inner = point(node_ - 1);
  if (!inner.is_known()) return false;
  TailPoint last = at_;
  for (int k = kTailParts - 1; k >= 1; --k) {
    const double t = static_cast<double>(k) / kTailParts;
    const std::size_t fine = (node_ - 1) * kTailParts + static_cast<std::size_t>(k);
    const TailPoint next(*side_.grid, fine, side_.between(node_ - 1, t), error_);
    if (!next.is_known()) return false;
    cost_ += cell_cost(next, last);
    last = next;
  }
  cost_ += cell_cost(inner, last);
  at_ = inner;
  --node_;
  return true;
}

}  // namespace mixcert
