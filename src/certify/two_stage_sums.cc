// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Cells have the width 1/16 up to |x| = 8; on a cell an activation is its chord up to a bend, its slope stays
// between its ends up to curvature times half the width (Y.24). A kink is an end of cells.
#include "certify/two_stage_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mixcert/core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

constexpr int kSlopeCellsPerUnit = 16;
constexpr double kLastNode = 8.0;
/// No less than the integral of (x - 7)^8 phi over x > 8.
constexpr double kBeyondLast = 3e-15;

struct NodePoint {
  double x, density, tail;  ///< tail: P(Z > x)
};

const std::vector<NodePoint>& node_points() {
  static const std::vector<NodePoint> points = [] {
    std::vector<NodePoint> made;
    const int count = 2 * kSlopeCellsPerUnit * static_cast<int>(kLastNode);
    for (int i = 0; i <= count; ++i) {
      const double x = static_cast<double>(i) / kSlopeCellsPerUnit - kLastNode;
      made.push_back({x, normal_density(x), normal_tail(x)});
    }
    return made;
  }();
  return points;
}

/// E 1 over the cell between two nodes, rounded up: from the side where tails are small.
double cell_mass(const NodePoint& a, const NodePoint& b) {
  return a.x >= 0.0 ? (a.tail - b.tail) * kSafety : normal_mass(a.x, b.x) * kSafety;
}

/// sup |f''|, (V.5).
double largest_curvature(F function) {
  switch (function) {
    case F::Tanh:
      return 0.77;
    case F::Sigmoid:
      return 0.1;
    case F::Erf:
      return 0.97;
    case F::Gelu:
      return 0.8;
    case F::Silu:
      return 0.5;
    case F::Softplus:
      return 0.25;
    case F::Elu:
      return 1.0;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

/// Slopes of these are largest at zero and fall on both sides.
bool has_single_peak(F function) {
  return function == F::Tanh || function == F::Sigmoid || function == F::Erf;
}

/// Slopes of these lie between those at the ends of a cell that does not have the peak inside.
bool has_slope_between_ends(F function) {
  return has_single_peak(function) || function == F::Softplus || function == F::Elu;
}

class ValueSums {
 public:
  ValueSums(const Activation& f, double m, double s, double gain, const Enclosed& mean,
            const Enclosed& second)
      : f_(f), m_(m), s_(s), gain_(gain), mean_(mean), second_(second), traits_(f) {}

  ValuePowers sum() {
    const std::vector<NodePoint>& nodes = node_points();
    const double kink = -m_ / s_;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const double a = nodes[i].x, b = nodes[i + 1].x;
      if (traits_.piecewise_linear && a < kink && kink < b) {
        add(a, kink, normal_mass(a, kink) * kSafety);
        add(kink, b, normal_mass(kink, b) * kSafety);
      } else {
        add(a, b, cell_mass(nodes[i], nodes[i + 1]));
      }
    }
    add_beyond(-kLastNode);
    add_beyond(kLastNode);
    powers_.deviation *= kSafety;
    powers_.square *= kSafety;
    return powers_;
  }

 private:
  void add(double a, double b, double mass) {
    const double va = f_(m_ + s_ * a), vb = f_(m_ + s_ * b);
    const double largest = std::max(std::abs(va), std::abs(vb));
    // Values (V.6), their arguments, the line.
    const double rounding =
        128 * kUnitRoundoff *
        (1.0 + largest + std::abs(m_) + kLastNode * (s_ + std::abs(gain_)) + std::abs(mean_.value));
    const double w = b - a;
    const double bend =
        (traits_.piecewise_linear ? 0.0 : 0.125 * w * w * s_ * s_ * traits_.curvature) + rounding;
    const double da = va - mean_.value - gain_ * a, db = vb - mean_.value - gain_ * b;
    const double d = std::max(std::abs(da), std::abs(db)) + bend + mean_.error;
    const double high = largest + bend;
    const double low = va * vb > 0.0 ? std::max(0.0, std::min(std::abs(va), std::abs(vb)) - bend) : 0.0;
    // a^2 lies in [low^2, high^2].
    const double q = std::max(high * high * kSafety - second_.value, second_.value - low * low) +
                     second_.error + 1e-9 * high * high;
    accumulate(mass, d, q);
  }

  /// With z = |x| - 8: |d| <= |d(8)| + steep z and |a^2 - a(8)^2| <= 2 |a(8)| steep z + (steep z)^2.
  void add_beyond(double x) {
    const double steep = s_ * std::max(std::abs(traits_.low), std::abs(traits_.high));
    const double value = f_(m_ + s_ * x);
    const double rounding =
        128 * kUnitRoundoff * (1.0 + std::abs(value) + std::abs(m_) + kLastNode * (s_ + std::abs(gain_)));
    const double d = std::abs(value - mean_.value - gain_ * x) + mean_.error + rounding;
    const double size = std::abs(value) + rounding;
    const double q = std::abs(value * value - second_.value) + second_.error + 2.0 * rounding * size;
    accumulate(kBeyondLast, std::max(d, steep + std::abs(gain_)) * kSafety,
               std::max(q, 2.0 * size * steep + steep * steep) * kSafety);
  }

  void accumulate(double mass, double d, double q) {
    powers_.deviation += mass * (d * d) * (d * d);
    powers_.square += mass * (q * q) * (q * q);
  }

  const Activation& f_;
  double m_, s_, gain_;
  Enclosed mean_, second_;
  SlopeTraits traits_;
  ValuePowers powers_;
};

}  // namespace

ValuePowers value_powers(const Activation& f, double m, double s, double gain, const Enclosed& mean,
                         const Enclosed& second) {
  if (!(s > 0.0)) return {};
  return ValueSums(f, m, s, gain, mean, second).sum();
}

SlopeTraits::SlopeTraits(const Activation& f) {
  const F function = f.function();
  piecewise_linear = function == F::Identity || function == F::Relu || function == F::LeakyRelu;
  const SlopeRange range = f.slope_range();
  low = range.low;
  high = range.high;
  curvature = largest_curvature(function);
}

double SlopeTraits::reach(double center) const {
  return std::max(std::abs(high - center), std::abs(center - low));
}

SlopeCells::SlopeCells(const Activation& f, double m, double s) : traits_(f) {
  if (!traits_.piecewise_linear) {
    add_smooth(f, m, s);
    return;
  }
  const double kink = std::clamp(-m / s, -40.0, 40.0);
  const double left = f.derivative(-1.0), right = f.derivative(1.0);
  const double moment = kink * normal_density(kink);
  const double below = normal_tail(-kink), above = normal_tail(kink);
  cells_.push_back({below * kSafety, (below - moment) * kSafety, left, left});
  cells_.push_back({above * kSafety, (above + moment) * kSafety, right, right});
}

void SlopeCells::add_smooth(const Activation& f, double m, double s) {
  const std::vector<NodePoint>& nodes = node_points();
  const bool peak = has_single_peak(f.function());
  const bool between = has_slope_between_ends(f.function());
  cells_.reserve(nodes.size() + 1);
  double last = f.derivative(m + s * nodes[0].x);
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const NodePoint &a = nodes[i], &b = nodes[i + 1];
    const double za = m + s * a.x, zb = m + s * b.x;
    const double next = f.derivative(zb);
    const double rounding = 256 * kUnitRoundoff * (1.0 + std::abs(m) + s * kLastNode);
    const double slack = between ? rounding : 0.5 * (zb - za) * traits_.curvature + rounding;
    const bool at_peak = peak && za <= rounding && zb >= -rounding;
    const double high = at_peak ? traits_.high : std::min(traits_.high, std::max(last, next) + slack);
    const double low = std::max(traits_.low, std::min(last, next) - slack);
    const double mass = cell_mass(a, b);
    const double second = mass + (a.x * a.density - b.x * b.density) + 1e-15;
    cells_.push_back({mass, std::min(second * kSafety, mass * std::max(a.x * a.x, b.x * b.x)), low, high});
    last = next;
  }
  cells_.push_back({kBeyondLast, 100.0 * kBeyondLast, traits_.low, traits_.high});
}

SlopeCells::Squares SlopeCells::about(double center) const {
  double mean = 0.0, least = 0.0, fourth = 0.0;
  for (const Cell& cell : cells_) {
    const double below = cell.low - center, above = cell.high - center;
    const double high = std::max(below * below, above * above);
    const double low = below <= 0.0 && above >= 0.0 ? 0.0 : std::min(below * below, above * above);
    mean += cell.mass * high;
    fourth += cell.mass * high * high;
    least += cell.mass * low;
  }
  least *= 1.0 - 1e-8;  // masses were rounded up
  const double reach = traits_.reach(center);
  const double variance = fourth * kSafety - least * least + 1e-13 * std::pow(reach, 4);
  return {mean * kSafety + 1e-13 * reach * reach, std::sqrt(std::max(0.0, variance)) * kSafety};
}

double SlopeCells::weighted() const {
  double sum = 0.0;
  for (const Cell& cell : cells_) {
    sum += cell.second * std::max(cell.low * cell.low, cell.high * cell.high);
  }
  const double reach = traits_.reach(0.0);
  return sum * kSafety + 1e-13 * reach * reach;
}

}  // namespace mixcert
