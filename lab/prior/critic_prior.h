// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The baseline of Tran et al., "All you need is a good functional prior for Bayesian deep learning" (2022):
// deviations of a network's weights that make its functions look like those of a Gaussian process to a
// critic, an estimate of W1. docs/prior-baselines.md says what follows their published code and what does
// not.
#pragma once

#include <functional>
#include <vector>

#include "mixcert/core/parallel.h"
#include "mixcert/network/network.h"
#include "prior/critic_options.h"

namespace mixcert::lab {

/// One step of the prior. Losses are penalty weight * penalty - difference, on the functions that the critic
/// is trained on; has it converged, half the steps lead to the same loss as all.
struct CriticPriorStep {
  Index step = 0;              ///< from one
  double distance = 0.0;       ///< the critic's difference on fresh functions: the estimate of W1
  double first_loss = 0.0;     ///< of the critic as drawn
  double halfway_loss = 0.0;   ///< after half of its steps
  double final_loss = 0.0;     ///< at its last step
  double gradient_norm = 0.0;  ///< there
  Index critic_steps = 0;      ///< fewer where the threshold was met
  double seconds = 0.0;        ///< of this step of the prior
};

struct CriticPriorResult {
  Network network;
  std::vector<CriticPriorStep> history;
  double seconds = 0.0;
};

/// `progress` is called after every step and may be null.
CriticPriorResult fit_critic_prior(const CriticPriorOptions& options,
                                   const std::function<void(const CriticPriorStep&)>& progress,
                                   const CancelFlag* cancel);

/// Independent centred weights of variance `weight_variance`, divided by the layer's inputs where
/// `by_fan_in`, and biases of variance `bias_variance`: the priors that are set beside tuned ones.
Network isotropic_prior(const std::vector<Index>& sizes, ActivationFunction activation,
                        double weight_variance, double bias_variance, bool by_fan_in);

}  // namespace mixcert::lab
