// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of smooth activations by quadrature with a proven error, (V.3) to (V.6), and by Taylor's formula
// where the deviation is so small that differences of values carry no digits, (V.7).
#pragma once

#include "mixcert/activation/gaussian_moments.h"

namespace mixcert {

/// tanh, sigmoid, erf, gelu, silu, softplus or elu. deviation > 0.
GaussianMoments quadrature_moments(const Activation& activation, double mean, double deviation);

/// The same functions, deviation at most kTinyDeviation.
GaussianMoments taylor_moments(const Activation& activation, double mean, double deviation);

/// Below, Taylor's formula is the more accurate one.
inline constexpr double kTinyDeviation = 1e-8;

/// f at a point: |computed - exact| <= 48 u (1 + |f|), (V.6).
Enclosed value_at(const Activation& activation, double z);

}  // namespace mixcert
