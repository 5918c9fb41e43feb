// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Upper confidence bounds of means, docs/theory/statistics.md (C.4). Bounds that hold for every sample size
// (median of means, Catoni) need a proven bound of the variance, which nothing here gives.
#include "statistics/mean_bound.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/normal.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr Index kMaxBatches = 100;
// Of the square of one normal variable: squared distances are rarely less skewed, and few samples may
// not show it.
const double kLeastSkewness = std::sqrt(8.0);

Vector batch_means(ConstVectorRef values) {
  const Index n = values.size();
  const Index batches = std::clamp<Index>(n / 2, 2, kMaxBatches);
  Vector means(batches);
  for (Index b = 0; b < batches; ++b) {
    const Index first = b * n / batches;
    means(b) = values.segment(first, (b + 1) * n / batches - first).mean();
  }
  return means;
}

/// skewness / sqrt(n), the skewness not below that of the square of a normal.
double skewness_of_mean(ConstVectorRef values, double mean) {
  const Vector centred = values.array() - mean;
  const double variance = centred.squaredNorm() / static_cast<double>(values.size());
  const double third = centred.array().cube().mean();
  const double skewness = variance > 0.0 ? third / (variance * std::sqrt(variance)) : 0.0;
  return std::max(skewness, kLeastSkewness) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

double student_quantile_bound(double tail, Index freedom) {
  require(tail > 0.0 && tail < 1.0,
          "student_quantile_bound: expected 0 < tail < 1, got " + std::to_string(tail));
  require(freedom >= 1, "student_quantile_bound: expected freedom >= 1, got " + std::to_string(freedom));
  if (tail >= 0.5) return 0.0;
  const double normal = -normal_quantile(tail);
  const auto degrees = static_cast<double>(freedom);
  return std::sqrt(degrees * std::expm1(normal * normal / (degrees - 0.5)));
}

MeanBound mean_upper_bound(ConstVectorRef values, double failure_probability) {
  require(values.size() >= 2,
          "mean_upper_bound: expected at least 2 values, got " + std::to_string(values.size()));
  require(values.allFinite(), "mean_upper_bound: a value is not finite");
  const Vector means = batch_means(values);
  MeanBound bound;
  bound.batches = means.size();
  bound.mean = values.mean();
  const double batches = static_cast<double>(means.size());
  const double square = (means.array() - means.mean()).square().sum() / (batches - 1.0);
  bound.standard_error = std::sqrt(square / batches);
  const double quantile = student_quantile_bound(failure_probability, bound.batches - 1);
  const double skew = skewness_of_mean(values, bound.mean);
  // Hall's transformation; beyond skew * quantile = 3 its cube root grows slower than the plain bound.
  const double corrected = 3.0 / skew * (1.0 - std::cbrt(1.0 - skew * (quantile + skew / 6.0)));
  bound.upper = bound.mean + bound.standard_error * larger_or_nan(quantile, corrected);
  return bound;
}

}  // namespace mixcert
