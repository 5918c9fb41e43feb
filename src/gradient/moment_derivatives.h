// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of the Gaussian moments of an activation with respect to mean and deviation: with a = f(m + s
// x), d/dm E[g(a) k(x)] = E[g'(a) f' k] and d/ds E[g(a) k(x)] = E[g'(a) f' x k]. By quadrature that knows the
// kink; accurate to about 1e-12, not proven: derivatives are no part of a bound.
#pragma once

#include "activation/hermite_coefficients.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// Column 0: d/dm, column 1: d/ds.
struct HermiteDerivatives {
  Eigen::Matrix<double, kHermiteOrder + 1, 2> coefficients;  ///< of c_0 .. c_24
  Eigen::RowVector2d variance;                               ///< of Var a
  Eigen::RowVector2d slope_energy;                           ///< of s^2 E f'^2
};

/// s > 0.
HermiteDerivatives hermite_derivatives(const Activation& activation, double mean, double deviation);

/// Of the fields of GaussianMoments, each a row (d/dm, d/ds). s > 0.
struct MomentDerivatives {
  Eigen::RowVector2d mean, slope, curvature, residual, second, square_slope, square_variance;
};

MomentDerivatives moment_derivatives(const Activation& activation, double mean, double deviation);

}  // namespace mixcert
