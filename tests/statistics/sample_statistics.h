// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Comparison of first and second moments of samples, in units of their standard errors:
// the statistics are all y_i and y_i y_j, whose errors are estimated from the sample.
#pragma once

#include <algorithm>
#include <cmath>

#include "mixcert/core/types.h"

namespace mixcert::testing {

/// Five standard errors: with fixed seeds and a few thousand comparisons nothing fails by chance.
inline constexpr double kSigmas = 5.0;

struct MomentEstimate {
  Vector mean;            ///< of [y; y y']
  Vector squared_errors;  ///< of `mean`
};

inline MomentEstimate estimate_moments(const Matrix& samples) {
  const Index d = samples.rows();
  const auto n = static_cast<double>(samples.cols());
  Vector sum = Vector::Zero(d + d * d);
  Vector square_sum = Vector::Zero(d + d * d);
  Vector statistic(d + d * d);
  for (Index s = 0; s < samples.cols(); ++s) {
    const Matrix outer = samples.col(s) * samples.col(s).transpose();
    statistic << samples.col(s), outer.reshaped();
    sum += statistic;
    square_sum += statistic.cwiseAbs2();
  }
  const Vector mean = sum / n;
  return {mean, (square_sum / n - mean.cwiseAbs2()).cwiseMax(0.0) / n};
}

/// Largest |difference| / standard error; differences at rounding level do not count.
inline double largest_z(const Vector& difference, const Vector& squared_errors, const Vector& scale) {
  double worst = 0.0;
  for (Index i = 0; i < difference.size(); ++i) {
    if (std::abs(difference(i)) <= 1e-10 * (1.0 + std::abs(scale(i)))) continue;
    worst = std::max(worst, std::abs(difference(i)) / std::sqrt(squared_errors(i)));
  }
  return worst;
}

/// Sample against exact moments.
inline double moment_z(const Matrix& samples, const Vector& mean, const Matrix& covariance) {
  const MomentEstimate estimate = estimate_moments(samples);
  const Matrix second = covariance + mean * mean.transpose();
  Vector exact(estimate.mean.size());
  exact << mean, second.reshaped();
  return largest_z(estimate.mean - exact, estimate.squared_errors, exact);
}

/// Sample against an independent sample.
inline double two_sample_z(const Matrix& a, const Matrix& b) {
  const MomentEstimate x = estimate_moments(a);
  const MomentEstimate y = estimate_moments(b);
  return largest_z(x.mean - y.mean, x.squared_errors + y.squared_errors, x.mean);
}

}  // namespace mixcert::testing
