// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (V.7): f(m + s x) = f(m) + s f'(m) x + R with |R| <= s^2 x^2 / 2, since f' is 1-Lipschitz for every smooth
// activation of the library.
#include <cmath>

#include "activation/enclosed_arithmetic.h"
#include "activation/quadrature_moments.h"

namespace mixcert {

Enclosed value_at(const Activation& activation, double z) {
  const double value = activation(z);
  return {value, 48 * kUnitRoundoff * (1.0 + std::abs(value))};
}

GaussianMoments taylor_moments(const Activation& activation, double mean, double deviation) {
  const double s = deviation;
  const double s2 = s * s;
  const Enclosed center = value_at(activation, mean);
  const Enclosed derivative{activation.derivative(mean), 64 * kUnitRoundoff};
  const Enclosed zero{0.0, 0.0};
  GaussianMoments moments;
  moments.mean = center + Enclosed{0.0, safe_error(0.5 * s2)};
  moments.slope = s * derivative + Enclosed{0.0, safe_error(0.8 * s2)};
  moments.curvature = zero + Enclosed{0.0, safe_error(0.8661 * s2)};
  moments.residual = Enclosed{0.375 * s2 * s2, safe_error(0.376 * s2 * s2)};
  moments.second = nonnegative(square(moments.mean) + square(moments.slope) + moments.residual);
  moments.square_slope = 2.0 * (center * moments.slope) + Enclosed{0.0, safe_error(6.0 * s2 * s)};
  // The standard deviation of 2 f d + d^2, d = f(z) - f(m), is that of 2 f s f' x up to the norms of 2 f R
  // and d^2.
  const Enclosed root =
      2.0 * (center * (s * derivative)) + Enclosed{0.0, safe_error((1.7321 * center.magnitude() + 2.3) * s2)};
  moments.square_variance = square(root);
  return moments;
}

}  // namespace mixcert
