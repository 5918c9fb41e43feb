// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which formula for which activation: docs/theory/moments.md, (V.2) to (V.8).
#include "activation/gaussian_moments.h"

#include <cmath>
#include <numbers>

#include "activation/activation_traits.h"
#include "activation/enclosed_arithmetic.h"
#include "activation/quadrature_moments.h"
#include "activation/ramp_moments.h"

namespace mixcert {

namespace {

GaussianMoments at_a_point(const Activation& activation, double mean) {
  GaussianMoments moments;
  const double value = activation(mean);
  const PiecewiseLinear* linear = activation.traits().linear();
  moments.mean = linear == nullptr             ? value_at(activation, mean)
                 : linear->is_computed_exactly ? exactly(value)
                                               : Enclosed{value, safe_error(kUnitRoundoff * std::abs(value))};
  moments.second = square(moments.mean);
  return moments;
}

GaussianMoments by_function(const Activation& activation, double mean, double deviation) {
  if (const PiecewiseLinear* linear = activation.traits().linear()) {
    return piecewise_linear_moments(linear->left(activation.slope()), 1.0, mean, deviation);
  }
  if (activation.traits().pieced() != nullptr) return pieced_moments(activation, mean, deviation);
  if (deviation < kTinyDeviation) return taylor_moments(activation, mean, deviation);
  if (deviation > kHugeDeviation) return limit_moments(activation, mean, deviation);
  return quadrature_moments(activation, mean, deviation);
}

/// Where squares overflow nothing is known.
void make_finite(Enclosed& x) {
  if (!std::isfinite(x.value) || !(x.error < INFINITY)) x = {0.0, INFINITY};
}

}  // namespace

GaussianMoments gaussian_moments(const Activation& activation, double mean, double deviation) {
  if (!(deviation > 0.0)) return at_a_point(activation, mean);
  GaussianMoments m = by_function(activation, mean, deviation);
  for (Enclosed* x :
       {&m.mean, &m.slope, &m.curvature, &m.residual, &m.second, &m.square_slope, &m.square_variance}) {
    make_finite(*x);
  }
  return m;
}

// (V.2): f is a line plus a multiple of the ramp (x - t)_+ on the half line that carries less than half of
// the mass, t = |m|/s >= 0. Line and ramp are never mixed before the line has dropped out, so dead and fully
// active neurons have a residual of the size of the ramp, not the difference of two large numbers.

namespace {

/// Var(a^2) with a^2 = line^2 z^2 + extra (s h)^2, z^2 = s^2 (x - t)^2, extra = ramp side's slope^2 - line^2.
/// The terms of Var(z^2) = 4 m^2 s^2 + 2 s^4 are formed from m: t overflows for small s.
Enclosed square_variance(const RampMoments& ramp, const Enclosed& line2, const Enclosed& extra, double mean,
                         double deviation) {
  const Enclosed s2 = square(exactly(deviation));
  const Enclosed m2 = square(exactly(mean));
  const Enclosed of_square = s2 * (4.0 * m2 + 2.0 * s2);
  const Enclosed s4 = square(s2);
  // Cov(z^2, (s h)^2) = s^4 H4 - (m^2 + s^2) s^2 H2.
  const Enclosed mixed = s4 * ramp.fourth - (m2 + s2) * s2 * ramp.second;
  const Enclosed of_ramp = s4 * (ramp.fourth - square(ramp.second));
  return square(line2) * of_square + 2.0 * (line2 * extra) * mixed + square(extra) * of_ramp;
}

}  // namespace

GaussianMoments piecewise_linear_moments(double left, double right, double mean, double deviation) {
  const double threshold = std::abs(mean) / deviation;
  const RampMoments ramp = ramp_moments({threshold, safe_error(kUnitRoundoff * threshold)});
  // The ramp lives on z > 0 (side = 1) when m <= 0, on z < 0 otherwise.
  const double side = mean > 0.0 ? -1.0 : 1.0;
  const double line = mean > 0.0 ? right : left;
  const double other = mean > 0.0 ? left : right;
  const Enclosed scale = deviation * (exactly(right) - exactly(left));
  const Enclosed line2 = square(exactly(line));
  const Enclosed extra = (exactly(other) - exactly(line)) * (exactly(other) + exactly(line));
  const Enclosed s2 = square(exactly(deviation));
  const Enclosed inverse_root_two{0.5 * std::numbers::sqrt2, kUnitRoundoff};
  GaussianMoments moments;
  moments.curvature = scale * (inverse_root_two * ramp.density);
  moments.residual = square(scale) * nonnegative(ramp.second - square(ramp.first) - square(ramp.tail));
  // A ramp alone: half of the neurons of a relu.
  if (line == 0.0) {
    moments.mean = scale * ramp.first;
    moments.slope = side * (scale * ramp.tail);
    moments.second = nonnegative(extra * (s2 * ramp.second));
    moments.square_slope = (2.0 * side) * (extra * (s2 * ramp.first));
    moments.square_variance = nonnegative(square(extra * s2) * (ramp.fourth - square(ramp.second)));
    return moments;
  }
  moments.mean = line * exactly(mean) + scale * ramp.first;
  moments.slope = line * exactly(deviation) + side * (scale * ramp.tail);
  moments.second = nonnegative(line2 * (square(exactly(mean)) + s2) + extra * (s2 * ramp.second));
  moments.square_slope = 2.0 * (line2 * (mean * exactly(deviation)) + side * (extra * (s2 * ramp.first)));
  moments.square_variance = nonnegative(square_variance(ramp, line2, extra, mean, deviation));
  return moments;
}

}  // namespace mixcert
