// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/rounding.md (R.8).
#include "certificate/settled_output.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mixcert/core/rounding.h"

namespace mixcert {

double settle_covariances(GaussianMixture& mixture) {
  const auto has_factor = [](const Gaussian& g) { return g.covariance.rank() > 0; };
  const std::vector<Gaussian>& old = mixture.components();
  if (std::none_of(old.begin(), old.end(), has_factor)) return 0.0;
  const auto n = static_cast<double>(mixture.dimension());
  std::vector<Gaussian> settled;
  double moved = 0.0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const Gaussian& g = mixture.component(i);
    if (!has_factor(g)) {
      settled.push_back(g);
      continue;
    }
    const double gamma = rounding_gamma(g.covariance.rank() + 4);
    Matrix dense = g.covariance.to_dense();
    dense.diagonal() *= 1.0 + 2.0 * n * gamma;
    moved += mixture.weights()(i) * 4.0 * n * gamma * dense.trace();
    settled.push_back({g.mean, Covariance::dense(std::move(dense))});
  }
  mixture = GaussianMixture(mixture.weights(), std::move(settled));
  return enlarged(std::sqrt(moved));
}

}  // namespace mixcert
