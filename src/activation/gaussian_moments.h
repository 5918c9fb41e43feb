// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of an activation of a Gaussian: z = m + s x, x ~ N(0,1), a = f(z). The normalised Hermite
// coefficients are c_p = E[a He_p(x)] / sqrt(p!); c_0 is the mean. Every number comes with a proven bound of
// its error, quadrature and rounding included, (V.1) to (V.8): closed forms for the piecewise linear
// functions, the trapezoidal rule on the real line for the analytic ones, Gauss-Legendre panels for elu and
// for large deviations.
#pragma once

#include "mixcert/activation/activation.h"

namespace mixcert {

/// A computed number and a bound of its distance to the true one.
struct Enclosed {
  double value = 0.0;
  double error = 0.0;

  [[nodiscard]] double upper() const { return next_up(value + error); }
  [[nodiscard]] double lower() const { return next_down(value - error); }
  /// No less than the absolute value of the true number.
  [[nodiscard]] double magnitude() const { return next_up((value < 0.0 ? -value : value) + error); }
};

struct GaussianMoments {
  Enclosed mean;             ///< E a
  Enclosed slope;            ///< c_1 = E[a x]
  Enclosed curvature;        ///< c_2 = E[a (x^2 - 1)] / sqrt 2
  Enclosed residual;         ///< T^2 = Var a - c_1^2 = sum over p >= 2 of c_p^2; value >= 0
  Enclosed second;           ///< E a^2; value >= 0
  Enclosed square_slope;     ///< E[a^2 x]
  Enclosed square_variance;  ///< Var(a^2); value >= 0
};

/// `deviation` may be zero: then a = f(m), and slope, curvature, residual, square_slope and square_variance
/// are 0, exactly.
GaussianMoments gaussian_moments(const Activation& activation, double mean, double deviation);

// Moments of piecewise linear activations in closed form, (V.2).

/// f(z) = right z for z >= 0, left z for z < 0. deviation > 0.
GaussianMoments piecewise_linear_moments(double left, double right, double mean, double deviation);

}  // namespace mixcert
