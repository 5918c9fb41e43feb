// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Expectations: bounded functions over samples of the mixture (U.10), Lipschitz functions of the true law
// (U.11).
#include <algorithm>
#include <cmath>
#include <string>

#include "core/sample_limits.h"
#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {

// Two bounds hold for each side of each mean (U.10): empirical Bernstein (Maurer and Pontil 2009, Theorem 4),
// the better one where the sample variance is far below mean (1 - mean); and Chernoff's in its relative
// entropy form (Hoeffding 1963, Theorem 1), the better one for rare events: at a mean near 0 it needs
// log(1/d)/n where Bernstein needs 7/3 of it. It implies Hoeffding's, which is therefore not used.

namespace {

// Values are computed: off by a few units of roundoff. Generous, and far below every width.
constexpr double kValueError = 0x1.0p-44;

/// No less than the expectation, but for `failure`, of values whose mean is at most `mean` and whose sample
/// variance is at most `variance`.
double mean_upper(double mean, double variance, Index count, double failure) {
  return std::min({1.0, largest_unit_mean(mean, count, 0.5 * failure),
                   largest_mean(mean, variance, 1.0, count, 0.5 * failure)});
}

Interval mean_interval(const Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>& values,
                       double failure) {
  const auto count = static_cast<double>(values.size());
  const double mean = values.mean();
  // A sum of squares about any point is no less than that about the mean.
  const double square = (values.array() - mean).square().sum();
  const double deviation =
      std::sqrt(square * (1.0 + rounding_gamma(values.size() + 8)) / (count - 1.0)) + 2.0 * kValueError;
  const double variance = deviation * deviation * (1.0 + rounding_gamma(8));
  const double slack = rounding_gamma(values.size() + 2) + kValueError;
  const double above = mean_upper(next_up(mean + slack), variance, values.size(), failure / 2.0);
  const double below = mean_upper(next_up(1.0 - mean + slack), variance, values.size(), failure / 2.0);
  return {mean, positive_part(next_down(1.0 - below)), above};
}

}  // namespace

std::vector<Interval> sampled_means(ConstMatrixRef values, double failure_probability) {
  require(values.cols() >= 2,
          "sampled_means: expected two samples or more, got " + std::to_string(values.cols()));
  require(failure_probability > 0.0 && failure_probability < 1.0,
          "sampled_means: expected 0 < failure_probability < 1, got " + std::to_string(failure_probability));
  require((values.array() >= 0.0).all() && (values.array() <= 1.0).all(),
          "sampled_means: expected values in [0, 1]");
  std::vector<Interval> means;
  for (Index f = 0; f < values.rows(); ++f) {
    means.push_back(mean_interval(values.row(f), failure_probability / static_cast<double>(values.rows())));
  }
  return means;
}

// Lipschitz functions (U.11).

Interval lipschitz_expectation(const CertifiedLaw& law, const Interval& mixture_value, double constant) {
  require(constant >= 0.0 && std::isfinite(constant),
          "lipschitz_expectation: expected a Lipschitz constant, got " + std::to_string(constant));
  const double shift = constant > 0.0 ? next_up(constant * law.w1()) : 0.0;
  return {mixture_value.estimate, next_down(mixture_value.lower - shift),
          next_up(mixture_value.upper + shift)};
}

Interval lipschitz_expectation(const CertifiedLaw& law, const std::function<double(ConstVectorRef)>& function,
                               double low, double high, double constant, const IntegrationOptions& options,
                               std::uint64_t index) {
  require(low < high && std::isfinite(high - low), "lipschitz_expectation: expected low < high, got " +
                                                       std::to_string(low) + " and " + std::to_string(high));
  const Matrix samples = sample_mixture(law.mixture(), options.samples, options.seed, Stream::Mixture, index);
  Matrix values(1, samples.cols());
  for (Index s = 0; s < samples.cols(); ++s) {
    const double value = function(samples.col(s));
    require(value >= low && value <= high,
            "lipschitz_expectation: expected a function between its ends, got " + std::to_string(value));
    values(0, s) = std::clamp((value - low) / (high - low), 0.0, 1.0);
  }
  const Interval unit = sampled_means(values, options.failure_probability).front();
  const double width = high - low;
  const double slack = 4.0 * kUnitRoundoff * (std::abs(low) + std::abs(high));
  const Interval mixture_value{low + width * unit.estimate, low + width * unit.lower - slack,
                               low + width * unit.upper + slack};
  return lipschitz_expectation(law, mixture_value, constant).within(low, high);
}

}  // namespace mixcert
