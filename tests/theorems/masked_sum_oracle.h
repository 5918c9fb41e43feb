// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of a masked sum by enumerating all masks, and exact distances on the line: quantile coupling, in
// long double, from the definitions.
#pragma once

#include <vector>

namespace mixcert::testing {

/// Points in increasing order.
struct Atoms {
  std::vector<long double> points, masses;
};

/// shift + sum_j xi_j contributions_j, xi_j = 0 with probability `rate` and 1/(1 - rate) otherwise.
Atoms enumerated_sum(const std::vector<long double>& contributions, long double rate, long double shift);

/// sum_k weights_k N(means_k, deviations_k^2); a deviation may be zero.
struct LineLaw {
  std::vector<long double> weights, means, deviations;

  [[nodiscard]] long double below(long double x) const;
  /// Where all deviations are positive.
  [[nodiscard]] long double density(long double x) const;
  [[nodiscard]] long double quantile(long double p) const;
};

/// W2 between the two.
long double exact_distance(const Atoms& atoms, const LineLaw& law);
/// The same between two mixtures by `count` quantiles of each, all deviations being positive: no more than W2
/// but for what quantiles between two levels differ in.
long double quantile_distance(const LineLaw& one, const LineLaw& other, int count);

}  // namespace mixcert::testing
