// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What answers may be asked for, and the one table of its fields.
#pragma once

#include <cstdint>
#include <optional>

#include "mixcert/answer/answers.h"
#include "mixcert/core/option_table.h"

namespace mixcert {

/// What the outputs say about the noise of an observation. With a head the first half of the outputs are
/// means, the second half their raw values, in the same order.
enum class NoiseHead {
  None,         ///< all outputs are means
  Softplus,     ///< deviation = log(1 + e^raw)
  LogVariance,  ///< variance = e^raw
};

struct AnswerOptions {
  /// Of credible and central predictive intervals.
  double level = 0.95;
  /// Samples of the mixture per law, where an expectation has no closed form.
  Index samples = 100000;
  /// The chance that one of the sampled intervals of a law misses the mixture's value.
  double failure_probability = 1e-9;
  std::uint64_t seed = 0;
  /// Deviation of the observation noise; unset: observations are outputs.
  std::optional<double> noise_std;
  NoiseHead head = NoiseHead::None;
  /// 0: one per processor.
  int threads = 0;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
  [[nodiscard]] IntegrationOptions integration() const { return {samples, failure_probability, seed}; }
};

const OptionTable<AnswerOptions>& answer_option_table();

}  // namespace mixcert
