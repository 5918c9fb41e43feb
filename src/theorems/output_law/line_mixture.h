// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A mixture of Gaussians on the line in place of one: how it is fitted to a computed law, and the distance
// between the two, docs/theory/stein.md (Y.40).
#pragma once

#include <vector>

#include "theorems/output_law/distribution.h"

namespace mixcert {

/// In units in which the law that it stands for has deviation one.
struct UnitMixture {
  std::vector<double> weights, means, deviations;
};

struct MixtureFit {
  UnitMixture mixture;  ///< of mean zero and variance one
  double distance;      ///< W2 to the law, about
};

/// A law of mean zero and variance one, as a fit sees it.
struct FitTarget {
  /// The same for all laws: a fixed distance apart, as far as fits look.
  static Eigen::ArrayXd nodes();

  Eigen::ArrayXd values;   ///< P(y <= node)
  Eigen::ArrayXd density;  ///< at the nodes
};
FitTarget fit_target(const DistributionCurve& curve);

/// Steps at most; a fit is done when one gains less than the part `little`.
struct FitEffort {
  int steps;
  double little;
};
constexpr FitEffort kQuickFit{16, 1e-3};      ///< beside a computation of a few milliseconds
constexpr FitEffort kThoroughFit{200, 1e-6};  ///< beside a simulation

/// `count` components.
MixtureFit fit_mixture(const FitTarget& target, Index count, const FitEffort& effort);

/// The fewest components, 2 up to `most`, of those tried that are within five per cent of the closest, or
/// that make the distance at most `wanted`, about.
UnitMixture best_fit(const FitTarget& target, Index most, double wanted);

/// The Gaussian stays unless a mixture is this much closer.
inline constexpr double kClearlyCloser = 0.9;

/// W2 between the law and the mixture; infinite where nothing is known.
UpperBound distance_to_mixture(const ComputedLaw& law, const UnitMixture& mixture);

}  // namespace mixcert
