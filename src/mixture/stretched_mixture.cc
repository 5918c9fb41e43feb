// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/ensembles.md (B.4). Stretching each output about its mean moves a law by the difference of the
// deviations alone; noise added to points without width would move it by the root of the difference of
// variances.
#include "mixture/stretched_mixture.h"

#include <cmath>
#include <utility>
#include <vector>

namespace mixcert {

StretchedMixture with_moments(const Vector& mean, const Vector& wanted, const GaussianMixture& mixture) {
  const Vector center = mixture.mean(), shift = mean - center;
  const Vector own = mixture.standard_deviation();
  Vector factor = Vector::Ones(own.size());
  for (Index l = 0; l < own.size(); ++l) {
    if (own(l) > 0.0 && wanted(l) > 0.0) factor(l) = wanted(l) / own(l);
  }
  std::vector<Gaussian> components;
  for (const Gaussian& one : mixture.components()) {
    const Matrix covariance = factor.asDiagonal() * one.covariance.to_dense() * factor.asDiagonal();
    components.push_back({center + shift + factor.cwiseProduct(one.mean - center),
                          Covariance::dense(0.5 * (covariance + covariance.transpose()))});
  }
  // Two moves, one after the other: a cross term would vanish for the exact center only.
  const double moved = shift.norm() + own.cwiseProduct(factor - Vector::Ones(own.size())).norm();
  // Means and deviations are computed ones, and covariances are rounded (R.8).
  const double size = center.norm() + mean.norm() + own.norm() + wanted.norm();
  const double rounding =
      std::sqrt(static_cast<double>(own.size()) * rounding_gamma(4 * own.size() + 4 * mixture.size() + 64)) *
      size;
  return {GaussianMixture(mixture.weights(), std::move(components)),
          {moved, enlarged(moved + 4.0 * rounding)},
          factor,
          mean - factor.cwiseProduct(center)};
}

}  // namespace mixcert
