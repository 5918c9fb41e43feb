// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers from draws of the network itself, docs/theory/answers.md (U.21): they need no mixture and no bound,
// hold for every number of draws, and fail with a stated probability. For every network that can be drawn
// from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mixcert/answer/questions.h"
#include "mixcert/core/types.h"

namespace mixcert {

/// Holds at least the mass `level` of the law; infinite where there are too few draws.
struct SimulatedInterval {
  double lower = -kInfinity;
  double upper = kInfinity;
  double level = 0.0;
  double share = 1.0;  ///< of the draws in it
};

/// What is certified by simulation: neither a range that the bound proves nor a bare estimate.
struct SimulatedAnswers {
  Index draws = 0;
  /// The chance that one of the ranges below misses.
  double failure_probability = 0.0;
  std::vector<Interval> probabilities;  ///< of the statements; estimates are shares of the draws
  /// Of each target at options.level: of its observation where there is noise or a head.
  std::vector<SimulatedInterval> credible;
  std::optional<ClassAnswer> classes;  ///< expected softmax probabilities
};

/// `draws`: a column for each independent draw of the outputs, two or more, as simulate() gives them; joint
/// ones as simulate_joint() does. The number of the input, `index`, selects the stream of the observation
/// noise. Means and covariances are no answers here: draws say nothing about them without a bound of tails.
SimulatedAnswers simulated_answers(ConstMatrixRef draws, const Questions& questions,
                                   const AnswerOptions& options, std::uint64_t index = 0);

}  // namespace mixcert
