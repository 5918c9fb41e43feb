// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The grid divides the period of the series, so that sines and cosines come from one table.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mixcert/core/rounding.h"
#include "theorems/output_law/distribution.h"
#include "theorems/output_law/transform_product.h"

namespace mixcert {
namespace {

// Cells are narrow enough where their interpolation adds no more than the series' own error, or this part of
// sup |D|.
constexpr double kSmallPart = 1e-6;

/// Coefficients of the series and of its derivative, and bounds of both and of the fourth derivative.
struct Coefficients {
  explicit Coefficients(const DistributionSeries& series)
      : real(series.real / std::numbers::pi), imaginary(series.imaginary / std::numbers::pi) {
    const double h = 2.0 * std::numbers::pi / series.period;
    real_slope = h * real;
    imaginary_slope = h * imaginary;
    for (Index k = 0; k < real.size(); ++k) {
      const auto order = static_cast<double>(k + 1);
      const double size = std::abs(real(k)) + std::abs(imaginary(k));
      const double t = h * order;
      sizes += size / order;
      slopes += size * h;
      fourth += h * t * t * t * std::sqrt(real(k) * real(k) + imaginary(k) * imaginary(k));
      real(k) /= order;
      imaginary(k) /= order;
    }
  }
  /// Of the cubics between exact values.
  [[nodiscard]] double interpolation(int cells_per_unit) const {
    return enlarged(std::pow(cells_per_unit, -4) / 384.0 * fourth);
  }

  Vector real, imaginary, real_slope, imaginary_slope;
  double sizes = 0.0, slopes = 0.0, fourth = 0.0;
};

/// Sine and cosine of 2 pi i / period, 0 <= i < period, in pairs.
std::vector<double> circle_table(std::size_t period) {
  std::vector<double> table(2 * period);
  for (std::size_t i = 0; 2 * i <= period; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
    const double sine = std::sin(angle), cosine = std::cos(angle);
    if (i > 0) {
      table[2 * (period - i)] = -sine;
      table[2 * (period - i) + 1] = cosine;
    }
    table[2 * i] = sine;
    table[2 * i + 1] = cosine;
  }
  return table;
}

void fill(const Coefficients& c, const std::vector<double>& circle, DistributionCurve& curve) {
  const std::size_t period = circle.size() / 2;
  const auto count = static_cast<std::size_t>(c.real.size());
  // Of sine and cosine: in D, odd + even in y, and in its derivative, odd + even.
  std::vector<double> factors;
  factors.reserve(4 * count);
  for (Index k = 0; k < c.real.size(); ++k) {
    for (const double x : {c.real(k), -c.imaginary(k), c.imaginary_slope(k), c.real_slope(k)}) {
      factors.push_back(x);
    }
  }
  for (std::size_t i = 0; i < curve.upper.value.size(); ++i) {
    TwoLanes value = both(0.0), slope = both(0.0);
    std::size_t at = 0;
    for (std::size_t k = 0; k < count; ++k) {
      at += i;
      if (at >= period) at -= period;
      const TwoLanes circular = load_two(&circle[2 * at]);
      value += load_two(&factors[4 * k]) * circular;
      slope += load_two(&factors[4 * k + 2]) * circular;
    }
    curve.upper.value[i] = -(value[0] + value[1]);
    curve.upper.slope[i] = slope[1] + slope[0];
    curve.lower.value[i] = value[1] - value[0];
    curve.lower.slope[i] = slope[1] - slope[0];
  }
}

}  // namespace

double DistributionSide::between(std::size_t i, double t) const {
  // The value falls by the slope's integral.
  const double start = -grid->cell * slope[i];
  const double end = -grid->cell * slope[i + 1];
  const double r = 1.0 - t;
  return r * r * ((1.0 + 2.0 * t) * value[i] + t * start) +
         t * t * ((1.0 + 2.0 * r) * value[i + 1] - r * end);
}

double DistributionSide::slope_at_middle(std::size_t i) const {
  return 1.5 * (value[i] - value[i + 1]) / grid->cell - 0.25 * (slope[i] + slope[i + 1]);
}

namespace {

/// The widest cells that are narrow enough, or else the narrowest.
int cells_for(const Coefficients& coefficients, double error) {
  const auto* const found = std::find_if(kCells.begin(), kCells.end(), [&](int cells) {
    return coefficients.interpolation(cells) <= error + kSmallPart * coefficients.sizes;
  });
  return found == kCells.end() ? kCells.back() : *found;
}

}  // namespace

DistributionCurve distribution_curve(const DistributionSeries& series) {
  const Coefficients coefficients(series);
  const int cells = cells_for(coefficients, series.error);
  const LineGrid& grid = normal_grid(cells, series.range);
  DistributionCurve curve;
  for (DistributionSide* side : {&curve.upper, &curve.lower}) {
    side->grid = &grid;
    side->value.resize(grid.last + 1);
    side->slope.resize(grid.last + 1);
  }
  fill(coefficients, circle_table(static_cast<std::size_t>(std::llround(series.period * cells))), curve);
  curve.fourth = enlarged(coefficients.fourth);
  const double rounding = rounding_gamma(series.real.size() + 64);
  curve.error =
      enlarged(series.error + rounding * (coefficients.sizes + 0.25 * grid.cell * coefficients.slopes) +
               coefficients.interpolation(cells)) +
      1e-15;
  return curve;
}

}  // namespace mixcert
