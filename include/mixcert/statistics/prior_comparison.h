// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How far the law of a network's outputs at several inputs jointly, a prior over functions, is from a target
// law there: what is certified, and what samples say. Certified and statistical numbers never share a name.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/parallel.h"
#include "mixcert/network/network.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {

struct PriorComparisonOptions {
  /// Samples of the network for its moments: the floor of the Gelbrich distance falls with their root.
  Index samples = 20000;
  /// Samples of the coupled simulation, which takes decompositions for each.
  Index coupled_samples = 4000;
  /// Samples of either side for the empirical W2; its cost grows with their cube.
  Index empirical_samples = 1000;
  /// Of the statistical upper bound, asymptotically; in (0,1).
  double failure_probability = 1e-6;
  /// Grid points per component of the signature method's certificate; 0: without that certificate.
  Index signature_size = 10;
  /// Components that it keeps.
  Index components = 1;
  std::uint64_t seed = 0;
  /// 0: one per processor. Results do not depend on it.
  int threads = 0;
  double max_memory_in_gib = 8.0;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
};

/// The table of PriorComparisonOptions.
const OptionTable<PriorComparisonOptions>& prior_comparison_table();

/// W2(network, target) <= bound + distance, by the mixture q of one method.
struct PriorCertificate {
  Method method = Method::Moment;
  double bound = std::numeric_limits<double>::quiet_NaN();     ///< certified, between network and q
  double distance = std::numeric_limits<double>::quiet_NaN();  ///< no less than W2(q, target)
  double w2 = std::numeric_limits<double>::quiet_NaN();        ///< their sum, rounded up
  /// Not certified: Gelbrich distance of the moments of q and target; W2(q, target) where both are Gaussian.
  double gelbrich = std::numeric_limits<double>::quiet_NaN();
  std::string gap;  ///< why there is no certificate; "" where there is one
};

struct PriorComparison {
  double target_scale = 0.0;  ///< sqrt(E |target|^2)

  // Certified.
  std::vector<PriorCertificate> certificates;
  double w2_certified = std::numeric_limits<double>::infinity();  ///< the least of them

  // Statistical.
  Index samples = 0;
  GelbrichLowerBound lower;     ///< of W2(network, target), and the plug-in Gelbrich distance
  double gelbrich_floor = 0.0;  ///< the plug-in distance of as many samples of the target
  Index coupled_samples = 0;
  /// Exceeds W2(network, target) but with `failure_probability`; NaN where no coupling can be simulated.
  double w2_upper_statistical = std::numeric_limits<double>::quiet_NaN();
  /// Root of the mean cost of that coupling, without margin.
  double coupled_cost = std::numeric_limits<double>::quiet_NaN();
  double failure_probability = 0.0;
  Index empirical_samples = 0;
  EmpiricalDistance empirical;
  std::string assumption;  ///< under which the statistical bounds hold

  /// Any of the distances in units of the target.
  [[nodiscard]] double relative(double distance) const { return distance / target_scale; }
};

/// `inputs`: columns. `target` over outputs at all of them, input-major: entry input * outputs + output.
PriorComparison compare_prior(const Network& network, ConstMatrixRef inputs, const GaussianMixture& target,
                              const PriorComparisonOptions& options = {}, const CancelFlag* cancel = nullptr);

/// No less than W2(a, b), by a coupling of components; outward rounded (T.2), (T.5).
double certified_mixture_distance(const GaussianMixture& a, const GaussianMixture& b);

}  // namespace mixcert
