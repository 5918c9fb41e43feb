// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which formula for which activation: docs/theory/moments.md, (V.2) to (V.8).
#include "mixcert/activation/gaussian_moments.h"

#include <cmath>

#include "activation/closed_form_moments.h"
#include "activation/enclosed_arithmetic.h"
#include "activation/quadrature_moments.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

GaussianMoments at_a_point(const Activation& activation, double mean) {
  GaussianMoments moments;
  const double value = activation(mean);
  const F function = activation.function();
  moments.mean = function == F::Identity || function == F::Relu ? exactly(value)
                 : function == F::LeakyRelu ? Enclosed{value, safe_error(kUnitRoundoff * std::abs(value))}
                                            : value_at(activation, mean);
  moments.second = square(moments.mean);
  return moments;
}

GaussianMoments by_function(const Activation& activation, double mean, double deviation) {
  switch (activation.function()) {
    case F::Identity:
      return piecewise_linear_moments(1.0, 1.0, mean, deviation);
    case F::Relu:
      return piecewise_linear_moments(0.0, 1.0, mean, deviation);
    case F::LeakyRelu:
      return piecewise_linear_moments(activation.slope(), 1.0, mean, deviation);
    default:
      if (deviation < kTinyDeviation) return taylor_moments(activation, mean, deviation);
      if (deviation > kHugeDeviation) return limit_moments(activation, mean, deviation);
      return quadrature_moments(activation, mean, deviation);
  }
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
