// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of one output behind dropout, and its distance to a mixture of Gaussians on the line:
// docs/theory/dropout-laws.md (D.7). Pure functions of contributions, a rate and a mixture; sizes of any
// order of magnitude.
#pragma once

#include <vector>

#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

/// sum_j xi_j contributions_j with independent xi_j: 0 with probability `rate`, 1/(1 - rate) otherwise.
struct MaskedSum {
  Vector contributions;
  double rate = 0.0;  ///< in (0, 1)
};

/// A law on equally spaced points. Probabilities are kept from both ends, so that both tails have a relative
/// error.
struct PointLaw {
  double first = 0.0, step = 0.0;  ///< point i is first + i step
  std::vector<double> below;       ///< P(x <= point i)
  std::vector<double> above;       ///< P(x >= point i)

  [[nodiscard]] double point(std::size_t i) const { return first + step * static_cast<double>(i); }
};

/// The law of a masked sum less its mean, every contribution rounded to a multiple of the step. Lengths are
/// in units of 2^exponent.
struct LatticeLaw {
  int exponent = 0;
  PointLaw points;
  double deviation = 0.0;  ///< no less than that of the points
  double moved = 0.0;      ///< W2 between the sum less its mean and the points, rounding included
  double offset = 0.0;     ///< no less than |sum - its mean - point|, always, for some coupling
  double error = 0.0;      ///< of `below` and `above`, relative
  double lost = 0.0;       ///< of `below` and `above`, absolute, beside it
};

/// How many points, and points times masks, at most.
struct LatticeEffort {
  int log_points = 17;
  int log_work = 27;
};

/// Never refuses: where there are many masks the points are farther apart.
LatticeLaw lattice_law(const MaskedSum& sum, const LatticeEffort& effort = {});

/// Gaussians on the line in the sum's own units; means are relative to the mean of the sum. Weights add up to
/// one but for rounding.
struct LineGaussians {
  std::vector<double> weights, means, deviations;
};

/// No less than W2 between the masked sum less its mean and the mixture, in the sum's own units.
UpperBound distance_to_gaussians(const LatticeLaw& law, const LineGaussians& mixture);

}  // namespace mixcert
