// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The grid divides the period of the series, so that sines and cosines come from one table.
#include "certify/line_curve.h"

#include <cmath>
#include <numbers>

#include "mixcert/core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

// The wide cells are taken where their interpolation adds no more than the series' own error, or this part of
// sup |D|.
constexpr double kSmallPart = 1e-6;

/// Coefficients of the series and of its derivative, and bounds of both and of the fourth derivative.
struct Coefficients {
  explicit Coefficients(const LineSeries& series)
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
    return std::pow(cells_per_unit, -4) / 384.0 * fourth * kSafety;
  }

  Vector real, imaginary, real_slope, imaginary_slope;
  double sizes = 0.0, slopes = 0.0, fourth = 0.0;
};

/// Sine and cosine of 2 pi i / period, 0 <= i < period.
struct CircleTable {
  explicit CircleTable(std::size_t period) : sine(period), cosine(period) {
    for (std::size_t i = 0; 2 * i <= period; ++i) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
      sine[i] = std::sin(angle);
      cosine[i] = std::cos(angle);
      if (i == 0) continue;
      cosine[period - i] = cosine[i];
      if (2 * i < period) sine[period - i] = -sine[i];
    }
  }
  std::vector<double> sine, cosine;
};

void fill(const Coefficients& c, const CircleTable& circle, LineCurve& curve) {
  const std::size_t period = circle.sine.size();
  const auto count = static_cast<std::size_t>(c.real.size());
  const double *real = c.real.data(), *imaginary = c.imaginary.data();
  const double *real_slope = c.real_slope.data(), *imaginary_slope = c.imaginary_slope.data();
  for (std::size_t i = 0; i < curve.upper.value.size(); ++i) {
    // D = odd + even in y, its derivative even + odd.
    double odd = 0.0, even = 0.0, even_slope = 0.0, odd_slope = 0.0;
    std::size_t at = 0;
    for (std::size_t k = 0; k < count; ++k) {
      at += i;
      if (at >= period) at -= period;
      const double s = circle.sine[at];
      const double x = circle.cosine[at];
      odd += real[k] * s;
      even -= imaginary[k] * x;
      even_slope += real_slope[k] * x;
      odd_slope += imaginary_slope[k] * s;
    }
    curve.upper.value[i] = -(odd + even);
    curve.upper.slope[i] = even_slope + odd_slope;
    curve.lower.value[i] = even - odd;
    curve.lower.slope[i] = even_slope - odd_slope;
  }
}

}  // namespace

NormalGrid::NormalGrid(int cells_per_unit)
    : cell(1.0 / cells_per_unit), last(static_cast<std::size_t>(kLineRange * cells_per_unit)) {
  for (std::size_t i = 0; i <= last; ++i) {
    const double y = cell * static_cast<double>(i);
    density.push_back(normal_density(y));
    tail.push_back(normal_tail(y));
  }
  for (std::size_t i = 0; i <= last * kLineParts; ++i) {
    fine_tail.push_back(normal_tail(cell / kLineParts * static_cast<double>(i)));
  }
}

const NormalGrid& normal_grid(int cells_per_unit) {
  static const NormalGrid coarse(kLineCoarse);
  static const NormalGrid fine(kLineFine);
  return cells_per_unit == kLineCoarse ? coarse : fine;
}

double LineSide::between(std::size_t i, double t) const {
  // The value falls by the slope's integral.
  const double start = -grid->cell * slope[i];
  const double end = -grid->cell * slope[i + 1];
  const double r = 1.0 - t;
  return r * r * ((1.0 + 2.0 * t) * value[i] + t * start) +
         t * t * ((1.0 + 2.0 * r) * value[i + 1] - r * end);
}

LineCurve line_curve(const LineSeries& series) {
  const Coefficients coefficients(series);
  const bool is_smooth =
      coefficients.interpolation(kLineCoarse) <= series.error + kSmallPart * coefficients.sizes;
  const int cells = is_smooth ? kLineCoarse : kLineFine;
  const NormalGrid& grid = normal_grid(cells);
  LineCurve curve;
  for (LineSide* side : {&curve.upper, &curve.lower}) {
    side->grid = &grid;
    side->value.resize(grid.last + 1);
    side->slope.resize(grid.last + 1);
  }
  fill(coefficients, CircleTable(static_cast<std::size_t>(std::llround(series.period * cells))), curve);
  const double rounding = rounding_gamma(series.real.size() + 64);
  curve.error = (series.error + rounding * (coefficients.sizes + 0.25 * grid.cell * coefficients.slopes) +
                 coefficients.interpolation(cells)) *
                    kSafety +
                1e-15;
  return curve;
}

}  // namespace mixcert
