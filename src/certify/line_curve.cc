// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The grid divides the period of the series, so that sines and cosines come from one table.
#include "certify/line_curve.h"

#include <cmath>
#include <numbers>

#include "mixcert/core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

NormalGrid::NormalGrid() {
  for (Index i = 0; i <= kLineHalf; ++i) {
    const double y = kLineCell * static_cast<double>(i);
    density[static_cast<std::size_t>(i)] = normal_density(y);
    tail[static_cast<std::size_t>(i)] = normal_tail(y);
  }
}

const NormalGrid& normal_grid() {
  static const NormalGrid grid;
  return grid;
}

double LineSide::between(std::size_t i, double t) const {
  // The value falls by the slope's integral.
  const double start = -kLineCell * slope[i];
  const double end = -kLineCell * slope[i + 1];
  const double r = 1.0 - t;
  return r * r * ((1.0 + 2.0 * t) * value[i] + t * start) +
         t * t * ((1.0 + 2.0 * r) * value[i + 1] - r * end);
}

/// The series at the nodes; its interpolant is within kCell^4/384 sup |D''''|.
LineCurve line_curve(const LineSeries& series) {
  const Index count = series.real.size();
  const auto period = static_cast<Index>(std::llround(series.period * kLineCellsPerUnit));
  const double h = 2.0 * std::numbers::pi / series.period;
  std::vector<double> sine(static_cast<std::size_t>(period)), cosine(static_cast<std::size_t>(period));
  for (Index i = 0; i < period; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
    sine[static_cast<std::size_t>(i)] = std::sin(angle);
    cosine[static_cast<std::size_t>(i)] = std::cos(angle);
  }
  Vector real = series.real / std::numbers::pi;
  Vector imaginary = series.imaginary / std::numbers::pi;
  double sizes = 0.0;
  double slopes = 0.0;
  double fourth = 0.0;
  Vector real_value(count), imaginary_value(count);
  for (Index k = 0; k < count; ++k) {
    const auto order = static_cast<double>(k + 1);
    const double size = std::abs(real(k)) + std::abs(imaginary(k));
    sizes += size / order;
    slopes += size * h;
    fourth += h * std::pow(h * order, 3) * std::hypot(real(k), imaginary(k));
    real_value(k) = real(k) / order;
    imaginary_value(k) = imaginary(k) / order;
    real(k) *= h;
    imaginary(k) *= h;
  }
  LineCurve curve;
  for (LineSide* side : {&curve.upper, &curve.lower}) {
    side->value.resize(kLineHalf + 1);
    side->slope.resize(kLineHalf + 1);
  }
  for (Index i = 0; i <= kLineHalf; ++i) {
    // D = odd + even in y, its derivative even + odd.
    double odd = 0.0, even = 0.0, even_slope = 0.0, odd_slope = 0.0;
    Index at = 0;
    for (Index k = 0; k < count; ++k) {
      at += i;
      while (at >= period) at -= period;
      const double s = sine[static_cast<std::size_t>(at)];
      const double c = cosine[static_cast<std::size_t>(at)];
      odd += real_value(k) * s;
      even -= imaginary_value(k) * c;
      even_slope += real(k) * c;
      odd_slope += imaginary(k) * s;
    }
    const auto n = static_cast<std::size_t>(i);
    curve.upper.value[n] = -(odd + even);
    curve.upper.slope[n] = even_slope + odd_slope;
    curve.lower.value[n] = even - odd;
    curve.lower.slope[n] = even_slope - odd_slope;
  }
  const double rounding = rounding_gamma(count + 64);
  curve.error = (series.error + rounding * (sizes + 0.25 * kLineCell * slopes) +
                 std::pow(kLineCell, 4) / 384.0 * fourth) *
                    kSafety +
                1e-15;
  return curve;
}

}  // namespace mixcert
