// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Parameters of kernel, noise and mean by the largest log marginal likelihood (K.3), found by L-BFGS with
// bounds (NLopt) from several starts.
#pragma once

#include <cstdint>

#include "mixcert/core/parallel.h"
#include "mixcert/gp/regression.h"

namespace mixcert {

struct GpFitOptions {
  /// The first start is what is given; the others have its logarithmic parameters plus standard normals.
  Index starts = 3;
  /// Random examples to fit on, without replacement; all of them where there are no more. 0: all.
  Index subset_size = 1000;
  /// Evaluations of the likelihood from each start.
  Index most_evaluations = 150;
  /// Positive parameters stay within this factor of those given.
  double range = 1e4;
  /// Of the subset and the further starts.
  std::uint64_t seed = 0;
  const CancelFlag* cancel = nullptr;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
};

struct GpFit {
  GaussianProcess process;
  double noise_variance = 0.0;
  double log_marginal_likelihood = 0.0;  ///< on the subset
  Index subset_size = 0;
  Index evaluations = 0;  ///< over all starts
  Index best_start = 0;
  bool converged = false;  ///< false: the best start ended at its last evaluation
};

/// Does not return a worse likelihood than that of what is given.
GpFit fit_gp(const GaussianProcess& process, double noise_variance, ConstMatrixRef inputs,
             ConstVectorRef targets, const GpFitOptions& options);

/// `count` different numbers below `total`, increasing; all of them where there are no more.
std::vector<Index> random_subset(Index total, Index count, std::uint64_t seed);

}  // namespace mixcert
