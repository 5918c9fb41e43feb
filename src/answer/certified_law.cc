// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "mixcert/answer/certified_law.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "mixcert/core/error.h"

namespace mixcert {
namespace {

double checked(const char* name, double bound) {
  if (std::isnan(bound)) return std::numeric_limits<double>::infinity();
  if (bound < 0.0)
    throw InvalidArgument(std::string(name) + ": expected a bound of a distance, got " +
                          std::to_string(bound));
  return bound;
}

// Variances below this have lost digits, or will when they are multiplied by a probability (R.9).
constexpr double kSmallestVariance = 1e-290;

GaussianMixture checked(GaussianMixture mixture) {
  for (Index i = 0; i < mixture.size(); ++i) {
    const Vector variances = mixture.component(i).covariance.variances();
    const bool lost = ((variances.array() > 0.0) && (variances.array() < kSmallestVariance)).any();
    if (!lost) continue;
    throw InvalidArgument("mixture: component " + std::to_string(i) +
                          " has a variance below 1e-290, too small for double precision; measure outputs in "
                          "smaller units");
  }
  return mixture;
}

}  // namespace

CertifiedLaw::CertifiedLaw(GaussianMixture mixture, double w2, double w1)
    : mixture_(checked(std::move(mixture))), w2_(checked("w2", w2)), w1_(std::min(checked("w1", w1), w2_)) {}

CertifiedLaw::CertifiedLaw(const Result& result)
    : CertifiedLaw(result.mixture, result.w2.value, result.w1.value) {}

}  // namespace mixcert
