// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which formula for which activation: docs/theory/moments.md, (V.2) to (V.8).
#include "activation/gaussian_moments.h"

#include <cmath>

#include "activation/activation_traits.h"
#include "activation/closed_form_moments.h"
#include "activation/enclosed_arithmetic.h"
#include "activation/quadrature_moments.h"

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

}  // namespace mixcert
