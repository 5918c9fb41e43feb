// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of piecewise linear activations in closed form, (V.2).
#pragma once

#include "activation/gaussian_moments.h"

namespace mixcert {

/// f(z) = right z for z >= 0, left z for z < 0. deviation > 0.
GaussianMoments piecewise_linear_moments(double left, double right, double mean, double deviation);

}  // namespace mixcert
