// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// All that can be asked about one certified law, answered together: what `mixcert answer` prints for each
// input.
#pragma once

#include <optional>
#include <vector>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/options.h"
#include "mixcert/answer/predictive.h"

namespace mixcert {

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
