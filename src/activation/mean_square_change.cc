// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E[(f(z) - f(c))^2; z in a cell] for z ~ N(m, s^2): the local-Lipschitz refinement of the
// paper's remark after its network theorem, one coordinate at a time, (A.3).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "activation/activation_traits.h"
#include "core/normal.h"
#include "mixcert/activation/activation.h"

namespace mixcert {
namespace {

// Cells are cut at these distances (in standard deviations) from the location. Finer cuts
// change the bound by less than 2 % for tanh and cost one more erfc each.
constexpr std::array<double, 7> kCuts = {-INFINITY, -2.0, -0.75, 0.0, 0.75, 2.0, INFINITY};

// Units of rounding in a product of a squared value and a probability, far tails included.
constexpr Index kMassRoundings = 65536;

struct ChangeCell {
  double mean, deviation, center, lower, upper;
};

/// E[(slope z - value)^2; cell part], z = m + s x.
UpperBound linear_piece(const ChangeCell& cell, double slope, double value, double lower, double upper) {
  const double low = std::max(cell.lower, lower);
  const double high = std::min(cell.upper, upper);
  if (!(low < high)) return UpperBound::exact(0.0);
  const double scale = slope * cell.deviation;
  if (std::abs(scale) < 1e-150) {
    const double rest = slope * cell.mean - value;
    return UpperBound::of_sum(rest * rest * normal_mass(low, high), kMassRoundings);
  }
  // slope z - value = scale (x - target); the difference to `center` is formed first so that
  // nothing cancels when the piece is the one the location lies on.
  const double z = cell.mean + cell.deviation * cell.center;
  const double target = cell.center + (value - slope * z) / scale;
  return UpperBound::of_sum(scale * scale, 4) * normal_square_about(target, low, high);
}

/// Bound of E[(f + e)^2] for a computed E f^2 and an error |e| <= `error` that lives on an
/// interval of the given mass: Minkowski.
UpperBound with_value_error(const UpperBound& square, double error, double mass) {
  const UpperBound root =
      sqrt(square) + UpperBound::exact(error) * sqrt(UpperBound::of_sum(mass, kMassRoundings));
  return {square.nominal, (root * root).upper};
}

UpperBound piecewise_linear(const Activation& f, const ChangeCell& cell, double left_slope) {
  const double kink = -cell.mean / cell.deviation;
  const double rounding = 8 * kUnitRoundoff * (std::abs(kink) + std::abs(cell.center));
  const double value = f(cell.mean + cell.deviation * cell.center);
  const double low = std::min(cell.lower, cell.center);
  const double high = std::max(cell.upper, cell.center);
  // ChangeCell and location on one side of the kink: the difference is linear and nothing is rounded.
  if (!(kink > low - rounding)) return linear_piece(cell, 1.0, value, -INFINITY, INFINITY);
  if (!(kink < high + rounding)) return linear_piece(cell, left_slope, value, -INFINITY, INFINITY);
  const UpperBound square =
      linear_piece(cell, left_slope, value, -INFINITY, kink) + linear_piece(cell, 1.0, value, kink, INFINITY);
  // f is continuous, so a kink or a location that is off by `rounding` moves it by that times
  // the slope, from the kink to the end of the cell away from the location: narrow cells feel it.
  const double beyond = cell.center > kink ? normal_mass(cell.lower, std::min(cell.upper, kink + rounding))
                                           : normal_mass(std::max(cell.lower, kink - rounding), cell.upper);
  return with_value_error(square, f.lipschitz().upper * cell.deviation * rounding, beyond);
}

/// E[s^2 (moved + slope (x - anchor))^2; low < x <= high and x in the cell].
UpperBound moved_piece(const ChangeCell& cell, double slope, double anchor, double moved, double low,
                       double high) {
  low = std::max(low, cell.lower);
  high = std::min(high, cell.upper);
  if (!(low < high)) return UpperBound::exact(0.0);
  if (slope == 0.0) {
    const double rest = cell.deviation * moved;
    return UpperBound::of_sum(rest * rest * normal_mass(low, high), kMassRoundings);
  }
  const double scale = slope * cell.deviation;
  return UpperBound::of_sum(scale * scale, 4) * normal_square_about(anchor - moved / slope, low, high);
}

/// Lines between kinks, from the location outwards: (f(z) - f(c))/s is the integral of the slopes over x.
UpperBound lines_between_kinks(const Activation& f, const ChangeCell& cell) {
  const Pieced& pieced = *f.traits().pieced();
  const auto slope = [&](std::size_t piece) { return pieced.difference(piece, 0.0, 1.0, f.parameters()); };
  Cuts ends;
  for (const double kink : pieced.kinks(f.parameters())) ends.push_back((kink - cell.mean) / cell.deviation);
  const auto home =
      static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), cell.center) - ends.begin());
  UpperBound sum;
  double farthest = std::abs(cell.center), anchor = cell.center, moved = 0.0;
  for (std::size_t piece = home; piece <= ends.size() && anchor <= cell.upper; ++piece) {
    const double end = piece < ends.size() ? ends[piece] : INFINITY;
    sum = sum + moved_piece(cell, slope(piece), anchor, moved, anchor, end);
    if (!(end < cell.upper)) break;
    farthest = std::max(farthest, std::abs(end));
    moved += slope(piece) * (end - anchor);
    anchor = end;
  }
  anchor = cell.center;
  moved = 0.0;
  for (std::size_t below = home + 1; below > 0 && anchor >= cell.lower; --below) {
    const double end = below > 1 ? ends[below - 2] : -INFINITY;
    sum = sum + moved_piece(cell, slope(below - 1), anchor, moved, end, anchor);
    if (!(end > cell.lower)) break;
    farthest = std::max(farthest, std::abs(end));
    moved += slope(below - 1) * (end - anchor);
    anchor = end;
  }
  // Kinks between location and cell are rounded, and so is what was added up to there; others do not count.
  const double rounding = 32 * kUnitRoundoff * farthest;
  const double low = std::min(cell.lower, cell.center) - rounding;
  const double high = std::max(cell.upper, cell.center) + rounding;
  const auto crossed =
      std::count_if(ends.begin(), ends.end(), [&](double x) { return low <= x && x <= high; });
  if (crossed == 0) return sum;
  return with_value_error(sum, f.lipschitz().upper * cell.deviation * rounding * static_cast<double>(crossed),
                          normal_mass(cell.lower, cell.upper));
}

double end_point(const ChangeCell& cell, double x) { return cell.mean + cell.deviation * x; }

UpperBound local_slopes(const Activation& f, const ChangeCell& cell) {
  UpperBound sum;
  const double variance = cell.deviation * cell.deviation;
  const double z_center = cell.mean + cell.deviation * cell.center;
  // Rounding of the ends, outward.
  const double widening =
      8 * kUnitRoundoff * (std::abs(cell.mean) + cell.deviation * (std::abs(cell.center) + 2.0));
  for (std::size_t i = 0; i + 1 < kCuts.size(); ++i) {
    const double low = std::max(cell.lower, cell.center + kCuts[i]);
    const double high = std::min(cell.upper, cell.center + kCuts[i + 1]);
    if (!(low < high)) continue;
    // |f(z) - f(c)| <= |z - c| times the largest slope between them.
    const UpperBound slope = f.max_slope(std::min(z_center, end_point(cell, low)) - widening,
                                         std::max(z_center, end_point(cell, high)) + widening);
    sum = sum + slope * slope * UpperBound::of_sum(variance, 1) * normal_square_about(cell.center, low, high);
  }
  return sum;
}

}  // namespace

UpperBound Activation::mean_square_change(double mean, double deviation, double center, double lower,
                                          double upper) const {
  const ChangeCell cell{mean, deviation, center, lower, upper};
  const UpperBound l = lipschitz();
  const UpperBound global =
      l * l * UpperBound::of_sum(deviation * deviation, 1) * normal_square_about(center, lower, upper);
  const PiecewiseLinear* linear = traits_->linear();
  const Pieced* pieced = traits_->pieced();
  if (pieced != nullptr && pieced->is_linear && deviation > 0.0) {
    return min(global, lines_between_kinks(*this, cell));
  }
  if (linear == nullptr) return min(global, local_slopes(*this, cell));
  if (!linear->has_kink) return global;
  return min(global, piecewise_linear(*this, cell, linear->left(parameters_.slope)));
}

}  // namespace mixcert
