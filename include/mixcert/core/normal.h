// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The standard normal law: density, distribution function, quantile and the
// truncated moments that signatures and local Lipschitz bounds are made of.
#pragma once

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
/// E[Z; lower < Z <= upper] = phi(lower) - phi(upper), without cancellation for
/// narrow intervals.
double normal_first_moment(double lower, double upper);
/// E[(Z - center)^2; lower < Z <= upper]: closed form for wide intervals,
/// Gauss-Legendre for narrow ones, where the closed form cancels (S.3).
double normal_square_about(double center, double lower, double upper);
/// Relative accuracy proved for normal_square_about in (S.3); absolute in the sense
/// of (S.4) when the closed form is used.
inline constexpr double kNormalSquareError = 1e-12;
/// P(|Z| <= radius) for a standard normal vector of `dimension` coordinates.
double normal_ball_probability(double radius, int dimension);

}  // namespace mixcert
