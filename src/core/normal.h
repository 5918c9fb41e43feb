// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The standard normal law: density, distribution function, quantile and the
// truncated moments that signatures and local Lipschitz bounds are made of.
#pragma once

#include "mixcert/core/rounding.h"

namespace mixcert {

/// phi(x) = exp(-x^2/2)/sqrt(2 pi).
double normal_density(double x);
/// Phi(x).
double normal_cdf(double x);
/// P(Z > x), accurate in the upper tail.
double normal_tail(double x);
/// Phi^{-1}(p) for 0 < p < 1.
double normal_quantile(double p);
/// P(lower < Z <= upper); either end may be infinite. Accurate in both tails.
double normal_mass(double lower, double upper);
/// E[(Z - center)^2; lower < Z <= upper]. Gauss-Legendre with a proven relative error where the
/// interval is narrow, since the closed form cancels there; closed form otherwise (Q.3).
UpperBound normal_square_about(double center, double lower, double upper);
/// E|Z - center| over lower < Z <= upper, for a center outside of (lower, upper), with the same care.
UpperBound normal_distance_about(double center, double lower, double upper);
/// E[Z - center; lower < Z <= upper], with the same care.
double normal_mean_about(double center, double lower, double upper);
/// P(|Z| <= radius) for a standard normal vector of `dimension` coordinates.
double normal_ball_probability(double radius, Index dimension);

}  // namespace mixcert
