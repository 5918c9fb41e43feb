// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// On a cell an activation is its chord up to a bend, its slope stays between its ends up to curvature times
// half the width (Y.24). A kink is an end of cells.
#include "activation/neuron/upper_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "activation/activation_traits.h"
#include "activation/neuron/neuron_nodes.h"
#include "core/normal.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

namespace {

class ValueSums {
 public:
  ValueSums(const Activation& f, double m, double s, double gain, const Enclosed& mean,
            const Enclosed& second)
      : f_(f), m_(m), s_(s), gain_(gain), mean_(mean), second_(second), traits_(f) {
    if (!traits_.piecewise_linear) bend_ = 0.125 * s * s * traits_.curvature;
    rounding_ =
        128 * kUnitRoundoff * (1.0 + std::abs(m) + kLastNode * (s + std::abs(gain)) + std::abs(mean.value));
  }

  ValuePowers sum() {
    const std::vector<CellNode>& nodes = cell_nodes();
    const double kink = -m_ / s_;
    double last = value(nodes[0].x);
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const double a = nodes[i].x, b = nodes[i + 1].x;
      const double next = value(b);
      if (traits_.piecewise_linear && a < kink && kink < b) {
        add(a, kink, last, value(kink), enlarged(normal_mass(a, kink)));
        add(kink, b, value(kink), next, enlarged(normal_mass(kink, b)));
      } else {
        add(a, b, last, next, nodes[i].mass);
      }
      last = next;
    }
    add_beyond(-kLastNode);
    add_beyond(kLastNode);
    powers_.deviation = enlarged(powers_.deviation);
    powers_.square = enlarged(powers_.square);
    return powers_;
  }

 private:
  [[nodiscard]] double value(double x) const { return f_(m_ + s_ * x); }

  /// The cell [a, b], with the activation's values at its ends.
  void add(double a, double b, double va, double vb, double mass) {
    const double largest = larger_or_nan(std::abs(va), std::abs(vb));
    const double w = b - a;
    const double bend = w * w * bend_ + rounding_ + 128 * kUnitRoundoff * largest;
    const double da = va - mean_.value - gain_ * a, db = vb - mean_.value - gain_ * b;
    const double d = larger_or_nan(std::abs(da), std::abs(db)) + bend + mean_.error;
    const double high = largest + bend;
    const double low = va * vb > 0.0 ? positive_part(std::min(std::abs(va), std::abs(vb)) - bend) : 0.0;
    // a^2 lies in [low^2, high^2].
    const double q = larger_or_nan(enlarged(high * high) - second_.value, second_.value - low * low) +
                     second_.error + 1e-9 * high * high;
    accumulate(mass, d, q);
  }

  /// With z = |x| - 8: |d| <= |d(8)| + steep z and |a^2 - a(8)^2| <= 2 |a(8)| steep z + (steep z)^2.
  void add_beyond(double x) {
    const double steep = s_ * larger_or_nan(std::abs(traits_.low), std::abs(traits_.high));
    const double last = value(x);
    const double rounding =
        128 * kUnitRoundoff * (1.0 + std::abs(last) + std::abs(m_) + kLastNode * (s_ + std::abs(gain_)));
    const double d = std::abs(last - mean_.value - gain_ * x) + mean_.error + rounding;
    const double size = std::abs(last) + rounding;
    const double q = std::abs(last * last - second_.value) + second_.error + 2.0 * rounding * size;
    accumulate(kBeyondLast, enlarged(larger_or_nan(d, steep + std::abs(gain_))),
               enlarged(larger_or_nan(q, 2.0 * size * steep + steep * steep)));
  }

  void accumulate(double mass, double d, double q) {
    powers_.deviation += mass * (d * d) * (d * d);
    powers_.square += mass * (q * q) * (q * q);
  }

  const Activation& f_;
  double m_, s_, gain_;
  Enclosed mean_, second_;
  SlopeTraits traits_;
  double bend_ = 0.0;      ///< on a cell of width 1
  double rounding_ = 0.0;  ///< of arguments and of the line; values add theirs (V.6)
  ValuePowers powers_;
};

}  // namespace

ValuePowers value_powers(const Activation& f, double m, double s, double gain, const Enclosed& mean,
                         const Enclosed& second) {
  if (!(s > 0.0)) return {};
  return ValueSums(f, m, s, gain, mean, second).sum();
}

SlopeTraits::SlopeTraits(const Activation& f) {
  require(has_neuron_nodes(f), "upper sums: expected a function with one kink at zero or a smooth one, got " +
                                   std::string(to_string(f.function())));
  const Smooth* smooth = f.traits().smooth();
  piecewise_linear = smooth == nullptr;
  const SlopeRange range = f.slope_range();
  low = range.low;
  high = range.high;
  curvature = smooth != nullptr ? smooth->curvature.get() : std::numeric_limits<double>::infinity();
}

double SlopeTraits::reach(double center) const {
  return larger_or_nan(std::abs(high - center), std::abs(center - low));
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
  cells_.push_back({enlarged(below), enlarged(below - moment), left, left});
  cells_.push_back({enlarged(above), enlarged(above + moment), right, right});
}

void SlopeCells::add_smooth(const Activation& f, double m, double s) {
  const std::vector<CellNode>& nodes = cell_nodes();
  const SlopeShape& shape = f.traits().smooth()->slopes;
  const bool peak = shape.has_peak(), trough = shape.has_trough();
  // Slopes lie between those at the ends of a cell that does not have the peak or the trough inside.
  const bool between = peak || trough || shape.is_monotone();
  cells_.reserve(nodes.size() + 1);
  double last = f.derivative(m + s * nodes[0].x);
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const double za = m + s * nodes[i].x, zb = m + s * nodes[i + 1].x;
    const double next = f.derivative(zb);
    const double rounding = 256 * kUnitRoundoff * (1.0 + std::abs(m) + s * kLastNode);
    const double slack = between ? rounding : 0.5 * (zb - za) * traits_.curvature + rounding;
    const bool at_zero = za <= rounding && zb >= -rounding;
    const bool at_peak = peak && at_zero, at_trough = trough && at_zero;
    const double high = at_peak ? traits_.high : std::min(traits_.high, std::max(last, next) + slack);
    const double low = at_trough ? traits_.low : std::max(traits_.low, std::min(last, next) - slack);
    cells_.push_back({nodes[i].mass, nodes[i].second, low, high});
    last = next;
  }
  cells_.push_back({kBeyondLast, 100.0 * kBeyondLast, traits_.low, traits_.high});
}

SlopeCells::Squares SlopeCells::about(double center) const {
  double mean = 0.0, least = 0.0, fourth = 0.0;
  for (const Cell& cell : cells_) {
    const double below = cell.low - center, above = cell.high - center;
    const double high = larger_or_nan(below * below, above * above);
    const double low = below <= 0.0 && above >= 0.0 ? 0.0 : std::min(below * below, above * above);
    mean += cell.mass * high;
    fourth += cell.mass * high * high;
    least += cell.mass * low;
  }
  least *= 1.0 - 1e-8;  // masses were rounded up
  const double reach = traits_.reach(center);
  const double variance = enlarged(fourth) - least * least + 1e-13 * std::pow(reach, 4);
  return {enlarged(mean) + 1e-13 * reach * reach, enlarged(std::sqrt(positive_part(variance)))};
}

double SlopeCells::weighted() const {
  double sum = 0.0;
  for (const Cell& cell : cells_) {
    sum += cell.second * larger_or_nan(cell.low * cell.low, cell.high * cell.high);
  }
  const double reach = traits_.reach(0.0);
  return enlarged(sum) + 1e-13 * reach * reach;
}

namespace {

/// Phi, off by at most kNearError: cubic interpolation of values and slopes at nodes h = 1/64 apart is off by
/// at most h^4/384 times the largest |(3x - x^3) phi|, below 0.551; beyond 6.25 less than 2.1e-10 is left.
class TabulatedCdf {
 public:
  static constexpr double kNearError = 2.2e-10;

  TabulatedCdf() {
    for (std::size_t i = 0; i <= kNodes; ++i) {
      const double x = kStep * static_cast<double>(i) - kReach;
      values_[i] = normal_cdf(x);
      slopes_[i] = kStep * normal_density(x);
    }
  }
  double operator()(double x) const {
    if (!(x > -kReach)) return x <= -kReach ? 0.0 : x;  // keeps NaN
    if (x >= kReach) return 1.0;
    const double place = (x + kReach) / kStep;
    const std::size_t i = std::min(static_cast<std::size_t>(place), kNodes - 1);
    const double u = place - static_cast<double>(i), rise = values_[i + 1] - values_[i];
    const double left = slopes_[i] - rise, right = slopes_[i + 1] - rise;
    return values_[i] + u * (rise + (1.0 - u) * (left * (1.0 - u) - right * u));
  }

 private:
  static constexpr double kReach = 6.25, kStep = 1.0 / 64.0;
  static constexpr std::size_t kNodes = 800;
  std::array<double, kNodes + 1> values_{}, slopes_{};
};

}  // namespace

DistancePowers smoothed_slope_powers(const Activation& f, double m, double t, double s, double center) {
  const std::vector<CellNode>& nodes = cell_nodes();
  const double left = f.derivative(-1.0), right = f.derivative(1.0);
  static const TabulatedCdf cdf;
  const auto distance = [&](double h) { return left + (right - left) * cdf((m + t * h) / s) - center; };
  const double off = 1e-14 + TabulatedCdf::kNearError * std::abs(right - left);
  DistancePowers sum;
  double least = 0.0, last = distance(nodes[0].x);
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const double next = distance(nodes[i + 1].x);
    // Monotone in h, so largest at an end of the cell, and smallest there or zero.
    const double a = std::abs(last), b = std::abs(next);
    const double largest = std::pow(larger_or_nan(a, b) + off, 2);
    sum.second += nodes[i].mass * largest;
    sum.fourth += nodes[i].mass * largest * largest;
    if (last * next > 0.0) least += nodes[i].mass * std::pow(positive_part(std::min(a, b) - off), 2);
    last = next;
  }
  const double reach2 = std::pow(SlopeTraits(f).reach(center), 2);
  sum.second = enlarged(sum.second + kBeyondLast * reach2);
  sum.fourth = enlarged(sum.fourth + kBeyondLast * reach2 * reach2);
  least *= 1.0 - 1e-8;  // masses were rounded up
  sum.spread = enlarged(std::sqrt(positive_part(sum.fourth - least * least)));
  return sum;
}

// docs/theory/two_layers.md (Y.24): cells are wider where little mass is.

namespace {

/// Of the cell that begins at x.
double cell_width(double x) {
  const double distance = x < 0.0 ? -x : x + 0.01;
  return distance <= 3.0 ? 0.0625 : distance <= 5.0 ? 0.125 : 0.5;
}

}  // namespace

const std::vector<CellNode>& cell_nodes() {
  static const std::vector<CellNode> nodes = [] {
    std::vector<CellNode> made;
    for (double a = -kLastNode; a <= kLastNode; a += cell_width(a)) {
      const double b = a + cell_width(a);
      const double mass = enlarged(normal_mass(a, b));
      // The integral of x^2 phi; both terms of the difference are good to 1e-15.
      const double second = mass + (a * normal_density(a) - b * normal_density(b)) + 1e-14;
      made.push_back({a, mass, std::min(enlarged(second), mass * std::max(a * a, b * b))});
    }
    return made;
  }();
  return nodes;
}

}  // namespace mixcert
