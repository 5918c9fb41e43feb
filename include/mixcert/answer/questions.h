// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What can be asked about one certified law: the options of answers, what an observation at the input will
// be, and all questions answered together, as `mixcert answer` prints them for each input.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/certified_law.h"
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

// The predictive law: what an observation at the input will be, y* = mean + deviation * n with independent
// standard normal n. Its variance is split into what the weights do not know (epistemic) and the noise of
// observations (aleatoric), (U.14); density, score and distribution function at a label (U.15), (U.18).

/// Of one target. Variances, not deviations.
struct PredictiveMoments {
  Interval mean;
  Interval epistemic;  ///< variance of the mean output
  Interval aleatoric;  ///< expected variance of the noise; no upper end with a log-variance head
  Interval total;      ///< variance of the observation: the sum of both
};

/// How many targets the outputs stand for. Throws InvalidArgument where a head meets an odd number.
Index target_count(Index outputs, const AnswerOptions& options);

/// Mean and variances of each target's observation (U.14).
std::vector<PredictiveMoments> predictive_moments(const CertifiedLaw& law, const AnswerOptions& options);

/// The law of one target's observation. With a head it is a mixture of Gaussians drawn from the mixture,
/// which nothing bounds the distance to: estimates only. `index` selects their random stream.
CertifiedLine observation(const CertifiedLaw& law, Index target, const AnswerOptions& options,
                          std::uint64_t index = 0);

/// -log of the observation's density at `label`, `output` the law of the mean, noise N(0, noise_std^2),
/// noise_std > 0 (U.15). The upper end is finite wherever there is a bound.
Interval negative_log_density(const CertifiedLine& output, double noise_std, double label);

/// CRPS of the law `line` at `label`; `noise_std` is that of the noise which `line` has in it, 0 for none
/// (U.18). More than 4096 components: no estimate (NaN), and the range is that of every law.
Interval certified_crps(const CertifiedLine& line, double noise_std, double label);

// All questions about one law, answered together.

struct Questions {
  bool covariances = false;  ///< of all pairs of outputs
  bool classes = false;      ///< outputs are logits
  std::vector<Statement> statements;
};

struct LawAnswers {
  MomentAnswers moments;  ///< of every output
  /// Mean and variances of each target's observation, where options give noise or a head.
  std::vector<PredictiveMoments> predictive;
  /// Of each target at options.level: of its observation where noise_std is given, of the mean output
  /// otherwise (a head's noise is not in it).
  std::vector<CredibleInterval> credible;
  std::optional<CovarianceAnswers> covariances;
  std::optional<ClassAnswer> classes;
  std::vector<ProbabilityAnswer> probabilities;  ///< of the statements
};

/// `index` selects the random streams: the number of the input.
LawAnswers answer(const CertifiedLaw& law, const Questions& questions, const AnswerOptions& options,
                  std::uint64_t index = 0);

}  // namespace mixcert
