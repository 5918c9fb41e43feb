// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Surrogates with the mean and the variance of the activation, docs/theory/moment-method.md (H.1): the gain
// is sign(c_1) sqrt(Var a). The gain c_1 would make the certificate smaller by at most a few per cent and
// every variance of the mixture too small.
#include "methods/moment/surrogate_law.h"

#include <algorithm>
#include <cmath>

namespace mixcert {
namespace {

/// sqrt(total - part^2), rounded up: what is left of a mean square when a coefficient is taken out.
double root_of_rest(const Enclosed& total, const Enclosed& part) {
  const double smallest = positive_part(std::abs(part.value) - part.error);
  const double rest = next_up(total.upper() - next_down(smallest * smallest));
  // Written so that NaN, left by an overflow, stays NaN: then there is no bound.
  return rest <= 0.0 ? 0.0 : next_up(std::sqrt(rest));
}

/// sign(c_1) sqrt(c_1^2 + T^2).
double variance_matching_gain(const GaussianMoments& moments) {
  const double size = std::hypot(moments.slope.value, std::sqrt(positive_part(moments.residual.value)));
  return std::copysign(size, moments.slope.value);
}

/// Room for what the rounded deviation changes (H.5): `shift` bounds the L2 norm of f(m + s x) - f(m + s~ x).
void charge_deviation(double shift, Index j, SurrogateLaw& law) {
  const double fourth_root = std::sqrt(law.second(j) + law.second_error(j) + std::abs(law.square_slope(j)) +
                                       law.square_slope_error(j) + law.square_rest(j));
  const double squares = 3.0 * shift * (fourth_root + shift);
  law.error(j) = next_up(law.error(j) + shift);
  law.second_error(j) = next_up(law.second_error(j) + squares);
  law.square_slope_error(j) = next_up(law.square_slope_error(j) + squares);
  law.square_rest(j) = next_up(law.square_rest(j) + squares);
}

void fill_coordinate(const GaussianMoments& moments, Index j, SurrogateLaw& law) {
  const double gain = variance_matching_gain(moments);
  law.mean(j) = moments.mean.value;
  law.gain(j) = gain;
  law.linear(j) = moments.slope.value - gain;
  law.quadratic(j) = moments.curvature.value;
  law.rest(j) = root_of_rest(moments.residual, moments.curvature);
  law.error(j) = next_up(moments.mean.error + moments.slope.error + moments.curvature.error +
                         2 * kUnitRoundoff * std::abs(gain));
  law.second(j) = moments.second.value;
  law.second_error(j) = moments.second.error;
  law.square_slope(j) = moments.square_slope.value;
  law.square_slope_error(j) = moments.square_slope.error;
  law.square_rest(j) = root_of_rest(moments.square_variance, moments.square_slope);
}

}  // namespace

SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece,
                           const std::vector<GaussianMoments>& moments) {
  const Index n = piece.dimension();
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const double relative = rounding_gamma(piece.covariance.rank() + 4) * activation.lipschitz().upper;
  SurrogateLaw law;
  for (Vector* field : {&law.mean, &law.gain, &law.linear, &law.quadratic, &law.rest, &law.error, &law.second,
                        &law.second_error, &law.square_slope, &law.square_slope_error, &law.square_rest}) {
    field->resize(n);
  }
  for (Index j = 0; j < n; ++j) {
    fill_coordinate(moments[static_cast<std::size_t>(j)], j, law);
    charge_deviation(next_up(relative * deviations(j)), j, law);
  }
  return law;
}

SurrogateLaw surrogate_law(const ActivationMap& activation, const Gaussian& piece, Index input_count) {
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  std::vector<GaussianMoments> moments;
  moments.reserve(static_cast<std::size_t>(piece.dimension()));
  for (Index j = 0; j < piece.dimension(); ++j) {
    moments.push_back(gaussian_moments(activation.at(j / input_count), piece.mean(j), deviations(j)));
  }
  return surrogate_law(activation, piece, moments);
}

}  // namespace mixcert
