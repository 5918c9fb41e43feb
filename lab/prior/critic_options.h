// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the critic baseline may choose. Defaults are those of Tran et al. (2022) for one-dimensional
// regression, with the inputs of the paper's table: docs/prior-baselines.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/core/option_table.h"
#include "prior/function_prior.h"

namespace mixcert::lab {

struct CriticPriorOptions {
  /// Sizes of the layers from input to output; one input and one output.
  std::string arch = "1-128-128-1";
  ActivationFunction activation = ActivationFunction::Tanh;
  std::string kernel = "rbf(lengthscale=1, variance=1)";
  Granularity prior = Granularity::PerLayer;
  /// Functions of either side in a step.
  Index samples = 512;
  /// Points of the grid over [low, high].
  Index points = 200;
  double low = -1.0;
  double high = 1.0;
  /// Steps of the prior by RMSprop.
  Index steps = 800;
  double learning_rate = 0.01;
  /// Steps of the critic by Adagrad for each of the prior.
  Index critic_steps = 1000;
  double critic_learning_rate = 0.08;
  /// A critic whose gradient's norm falls below this stops early.
  double critic_threshold = 0.01;
  Index critic_width = 200;
  double penalty = 10.0;
  std::uint64_t seed = 0;
  /// 0: one per processor. Results do not depend on it.
  int threads = 0;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
  [[nodiscard]] std::vector<Index> layer_sizes() const;
};

const OptionTable<CriticPriorOptions>& critic_prior_table();

}  // namespace mixcert::lab
