// Licensed under the Apache License, Version 2.0; see LICENSE.
#include <algorithm>
#include <cmath>
#include <string>

#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {

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
