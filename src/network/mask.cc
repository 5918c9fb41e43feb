// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of masks, docs/theory/dropout.md (D.1), (D.2).
#include <algorithm>
#include <cmath>
#include <string>

#include "core/normal.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/network/network.h"

namespace mixcert {
namespace {

/// No more than phi(Phi^{-1}(p)), 0 < p <= 1/2. The quantile is only computed, so its residual is charged:
/// the derivative of phi(Phi^{-1}(.)) is -Phi^{-1}.
double density_at_quantile(double p) {
  const double q = normal_quantile(p);
  const double residual = std::abs(normal_cdf(q) - p) + 64 * kElementaryFunctionError * p;
  const double density = normal_density(q) * (1.0 - (q * q + 8.0) * kElementaryFunctionError);
  return positive_part(density - (std::abs(q) + 1e-6) * residual * (1.0 + 1e-9));
}

}  // namespace

Mask::Mask(Kind kind, double rate) : kind_(rate > 0.0 ? kind : Kind::None), rate_(rate) {
  require(rate >= 0.0 && rate < 1.0,
          "dropout: rate: expected a number in [0, 1), got " + format_number(rate));
}

Mask Mask::bernoulli(double rate) { return {Kind::Bernoulli, rate}; }

Mask Mask::gaussian(double rate) { return {Kind::Gaussian, rate}; }

UpperBound Mask::variance() const { return UpperBound::of_sum(rate_ / keep(), 4); }

UpperBound Mask::fourth_moment() const {
  const double k = keep();
  const double v = rate_ / k;
  return UpperBound::of_sum(kind_ == Kind::Gaussian ? 1.0 + 6.0 * v + 3.0 * v * v : 1.0 / (k * k * k), 16);
}

double Mask::normal_coupling() const {
  // A smaller value only raises a bound.
  constexpr double kSmaller = 1.0 - 16 * kUnitRoundoff;
  if (kind_ == Kind::None) return 0.0;
  if (kind_ == Kind::Gaussian) return kSmaller * std::sqrt(rate_ / keep());
  // phi(Phi^{-1}(.)) is symmetric about 1/2; the smaller of the two probabilities is exact.
  return kSmaller * density_at_quantile(std::min(rate_, keep())) / keep();
}

}  // namespace mixcert
