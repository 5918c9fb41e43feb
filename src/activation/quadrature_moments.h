// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of smooth activations by quadrature with a proven error, (V.3) to (V.6); by Taylor's formula where
// the deviation is so small that differences of values carry no digits, (V.7); from the limits of the
// function where it is so large that nodes cannot find the place where the function bends, (V.8).
#pragma once

#include "activation/gaussian_moments.h"

namespace mixcert {

// For functions made of pieces.

/// Every deviation > 0, (V.9).
GaussianMoments pieced_moments(const Activation& activation, double mean, double deviation);

/// f(from + step) - f(from), to 96 units of roundoff of sup |f'| |step| (V.9).
double pieced_difference(const Activation& activation, double from, double step);

// All others for smooth functions.

/// kTinyDeviation <= deviation <= kHugeDeviation.
GaussianMoments quadrature_moments(const Activation& activation, double mean, double deviation);
/// 0 < deviation <= kTinyDeviation.
GaussianMoments taylor_moments(const Activation& activation, double mean, double deviation);
/// Valid for every deviation > 0; of use for large ones.
GaussianMoments limit_moments(const Activation& activation, double mean, double deviation);

inline constexpr double kTinyDeviation = 1e-8;
inline constexpr double kHugeDeviation = 1e12;

/// Moments of a function within `distance` of the piecewise linear one with these slopes, (V.8).
GaussianMoments moments_near_lines(double left, double right, double distance, double mean, double deviation);

/// f at a point: |computed - exact| <= 48 u (1 + |f|), (V.6).
Enclosed value_at(const Activation& activation, double z);

}  // namespace mixcert
