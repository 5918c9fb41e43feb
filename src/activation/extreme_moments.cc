// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Deviations below 1e-8, (V.7): f(m + s x) = f(m) + s f'(m) x + R with |R| <= s^2 x^2 / 2, since f' is
// 1-Lipschitz for every smooth activation of the library. Deviations above 1e12, (V.8): piecewise linear plus
// at most one.
#include <cmath>

#include "activation/activation_traits.h"
#include "activation/enclosed_arithmetic.h"
#include "activation/gaussian_moments.h"
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

namespace {

/// |f| <= 1 and nothing else.
GaussianMoments moments_of_a_bounded_function() {
  const Enclosed sign{0.0, 1.0};
  const Enclosed square{0.5, 0.5};
  return {sign, sign, sign, square, square, sign, square};
}

Enclosed widened(const Enclosed& x, double error) { return {x.value, safe_error(x.error + error)}; }

/// The root of the true number is within `change` of that of `square`.
Enclosed with_root_change(const Enclosed& square, double change) {
  return widened(square, safe_error((2.0 * std::sqrt(square.upper()) + change) * change));
}

}  // namespace

GaussianMoments moments_near_lines(double left, double right, double distance, double mean,
                                   double deviation) {
  GaussianMoments m = piecewise_linear_moments(left, right, mean, deviation);
  // f^2 - l^2 has a root mean square of at most distance (2 |l| + distance), l the piecewise linear function.
  const double square_change = safe_error(distance * distance + 2.0 * distance * std::sqrt(m.second.upper()));
  for (Enclosed* x : {&m.mean, &m.slope, &m.curvature}) *x = widened(*x, distance);
  m.residual = with_root_change(m.residual, distance);
  m.second = with_root_change(m.second, distance);
  m.square_slope = widened(m.square_slope, square_change);
  m.square_variance = with_root_change(m.square_variance, square_change);
  return m;
}

GaussianMoments limit_moments(const Activation& activation, double mean, double deviation) {
  const Limits& limits = activation.traits().smooth()->limits;
  if (limits.is_bounded()) return moments_of_a_bounded_function();
  return moments_near_lines(limits.left(), limits.right(), 1.0, mean, deviation);
}

}  // namespace mixcert
