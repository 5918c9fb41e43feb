// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the records of several activation functions share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "activation/activation_traits.h"
#include "core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert::functions {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Beyond 45 every slope has reached its limit in double precision; it stands for infinity.
inline double clipped(double x) { return std::clamp(x, -45.0, 45.0); }

inline double logistic(double x) {
  const double e = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

/// Derivative of the logistic function.
inline double logistic_bell(double x) {
  const double e = std::exp(-std::min(700.0, std::abs(x)));
  return e / ((1.0 + e) * (1.0 + e));
}

/// tanh on |Im z| <= w: |tanh| <= max(1, tan w), |tanh'| <= 1/cos^2 w, tanh'' = -2 tanh tanh'.
struct TanhBound {
  double value, slope;
  explicit TanhBound(double w) {
    const double cosine = std::cos(w);
    slope = 1.0 / (cosine * cosine);
    value = larger_or_nan(1.0, std::sqrt(positive_part(slope - 1.0)));
  }
};

/// The logistic function is (1 + tanh(z/2))/2.
struct LogisticBound {
  TanhBound half;
  double value, slope, z_times_slope;
  explicit LogisticBound(double w)
      : half(0.5 * w),
        value(0.5 * (1.0 + half.value)),
        slope(0.25 * half.slope),
        z_times_slope(0.25 * std::sqrt(half.slope) + w * slope) {}
};

/// The nearest poles of the logistic function are at +-i pi; its zone is |z| <= 44.
inline constexpr double kLogisticStrip = 2.6;
inline constexpr double kLogisticPanel = 2.0;
inline constexpr double kLogisticZone = 44.0;

}  // namespace mixcert::functions
