// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks drawn from the Bayesian posterior itself by Hamiltonian Monte Carlo: the reference that tells the
// error of a mean-field posterior from that of a prior. Every step uses all examples, so for small tables
// only.
#pragma once

#include <vector>

#include "mixcert/core/option_table.h"
#include "mixcert/core/parallel.h"
#include "train/evaluation.h"
#include "train/prior.h"

namespace mixcert::lab {

struct HmcOptions {
  /// Leapfrog steps of one trajectory; each is a gradient over all examples.
  Index leapfrog_steps = 100;
  /// Trajectories that find the posterior and a step length, and are forgotten.
  Index burn_in = 150;
  /// Trajectories that are kept, one network each.
  Index samples = 200;
  /// Step length at the start, in units of the prior's standard deviations.
  double first_step = 0.003;
  std::uint64_t seed = 0;
};

const OptionTable<HmcOptions>& hmc_option_table();

struct HmcSamples {
  std::vector<FloatVector> networks;
  double acceptance = 0.0;  ///< share of kept trajectories that were accepted
  double step = 0.0;        ///< length after burn-in
};

/// `net` without convolutions and dropout; the likelihood is used as it is. Throws Interrupted where `cancel`
/// is set.
HmcSamples sample_posterior(const StackNet& net, const DiagonalPrior& prior, const Likelihood& likelihood,
                            const Examples& examples, const HmcOptions& options, int threads,
                            const CancelFlag* cancel);

}  // namespace mixcert::lab
