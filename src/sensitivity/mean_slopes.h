// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E f'(z) of an activation of a Gaussian whose mean and deviation are known up to ranges (M.12).
#pragma once

#include "mixcert/activation/activation.h"

namespace mixcert {

struct MeanSlope {
  double centre = 0.0;  ///< E f'(z) is within `radius` of it
  double radius = 0.0;
  double spread = 0.0;  ///< no less than the deviation of any average of slopes of f with such a mean
};

/// Of z with a mean within `mean_change` of `mean` and a deviation within `deviation_change` of `deviation`.
MeanSlope mean_slope(const Activation& activation, double mean, double deviation, double mean_change,
                     double deviation_change);

}  // namespace mixcert
