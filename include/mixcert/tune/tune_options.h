// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What prior selection may choose, and the one table of its fields.
#pragma once

#include <cstdint>
#include <string>

#include "mixcert/activation/activation.h"
#include "mixcert/core/option_table.h"
#include "mixcert/gradient/objective.h"
#include "mixcert/tune/prior_parameters.h"

namespace mixcert {

struct TuneOptions {
  /// Sizes of the layers from input to output.
  std::string arch = "1-128-128-1";
  ActivationFunction activation = ActivationFunction::Tanh;
  PriorForm prior = PriorForm::PerNeuron;
  TunedMeans means = TunedMeans::None;
  Method method = Method::Moment;
  /// Weight of the certified bound in the objective; the distance to the target has the rest.
  double beta = 0.01;
  /// Inputs drawn for a step, without repetition; all of them where there are fewer.
  Index batch = 20;
  Index steps = 300;
  /// Of Adam, on logarithms of variances and on means; falls to zero along a cosine.
  double learning_rate = 0.05;
  /// Deviation by which logarithms of variances are scattered at the start.
  double jitter = 1.0;
  /// Of the signature method: grid points per component, components kept.
  Index signature_size = 10;
  Index components = 1;
  /// Inputs that no step sees, where the result is judged.
  Index held_out = 20;
  std::uint64_t seed = 0;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
  [[nodiscard]] ObjectiveOptions objective() const;
  [[nodiscard]] PriorParameters parameters() const;
};

const OptionTable<TuneOptions>& tune_option_table();

}  // namespace mixcert
