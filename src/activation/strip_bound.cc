// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The constants of (V.5). Every bound is enlarged by 1e-9 of itself, far more than its rounding.
#include "activation/strip_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mixcert {
namespace {

using F = ActivationFunction;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kRoundingFactor = 1.0 + 1e-9;

/// tanh on |Im z| <= w: |tanh| <= max(1, tan w), |tanh'| <= 1/cos^2 w, tanh'' = -2 tanh tanh'.
struct TanhBound {
  double value, slope;
  explicit TanhBound(double w) {
    const double cosine = std::cos(w);
    slope = 1.0 / (cosine * cosine);
    value = larger_or_nan(1.0, std::sqrt(positive_part(slope - 1.0)));
  }
};

StripBound bounds_of(F function, double w) {
  switch (function) {
    case F::Tanh: {
      const TanhBound t(w);
      return {w, t.value, t.slope, 2.0 * t.value * t.slope};
    }
    case F::Erf: {
      const double growth = std::exp(w * w);
      return {w, 1.0 + 1.12838 * w * growth, 1.12838 * growth, 2.25676 * growth * (0.42889 + w)};
    }
    case F::Gelu: {
      const double growth = std::exp(0.5 * w * w);
      return {w, kUnbounded, 1.0 + growth * (0.7979 * w + 0.24198),
              growth * (0.39895 * (2.0 + w * w) + 0.29354)};
    }
    default:
      break;
  }
  // The logistic function is (1 + tanh(z/2))/2.
  const TanhBound t(0.5 * w);
  const double logistic = 0.5 * (1.0 + t.value);
  const double logistic_slope = 0.25 * t.slope;
  const double z_times_slope = 0.25 * std::sqrt(t.slope) + w * logistic_slope;
  if (function == F::Sigmoid) return {w, logistic, logistic_slope, logistic_slope * t.value};
  if (function == F::Softplus) return {w, kUnbounded, logistic, logistic_slope};
  return {w, kUnbounded, logistic + z_times_slope, 2.0 * logistic_slope + t.value * z_times_slope};
}

}  // namespace

StripBound strip_bound(ActivationFunction function, double half_width) {
  const StripBound b = bounds_of(function, half_width);
  return {half_width, b.value * kRoundingFactor, b.slope * kRoundingFactor, b.curvature * kRoundingFactor};
}

double favourable_half_width(ActivationFunction function, double deviation) {
  // Beyond six standard deviations the density's own growth e^{a^2/2} outweighs the longer step.
  const double widest = 6.0 * deviation;
  const double density_share = 0.5 / (deviation * deviation);
  switch (function) {
    case F::Tanh:
      return std::min(widest, 1.3);
    case F::Erf:  // the fourth power of the bound grows like e^{4 w^2}
      return std::min(widest, std::sqrt(29.0 / (4.0 + density_share)));
    case F::Gelu:
      return std::min(widest, std::sqrt(29.0 / (2.0 + density_share)));
    default:
      return std::min(widest, 2.6);
  }
}

}  // namespace mixcert
