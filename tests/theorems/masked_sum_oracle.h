// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of a masked sum by enumerating all masks, and exact distances on the line: quantile coupling, from
// the definitions.
#pragma once

#include <vector>

namespace mixcert::testing {

/// Points in increasing order.
struct Atoms {
  std::vector<long double> points, masses;
};

/// shift + sum_j xi_j contributions_j, xi_j = 0 with probability `rate` and 1/(1 - rate) otherwise.
Atoms enumerated_sum(const std::vector<long double>& contributions, long double rate, long double shift);

/// sum_k weights_k N(means_k, deviations_k^2); a deviation may be zero. Of double and long double, which
/// takes fifty times as long where it is not the processor's.
template <class Real>
struct LineLawOf {
  std::vector<Real> weights, means, deviations;

  [[nodiscard]] Real below(Real x) const;
  /// Where all deviations are positive.
  [[nodiscard]] Real density(Real x) const;
  [[nodiscard]] Real quantile(Real p) const;
  [[nodiscard]] Real deviation() const;  ///< of the mixture
};
using LineLaw = LineLawOf<long double>;

/// W2 between the two.
long double exact_distance(const Atoms& atoms, const LineLaw& law);
/// The same between two mixtures by `count` quantiles of each, at levels Phi(z) with z equally spaced up to 6
/// on both sides, all deviations being positive: up to what quantiles between two levels differ in.
double quantile_distance(const LineLawOf<double>& one, const LineLawOf<double>& other, int count);

}  // namespace mixcert::testing
