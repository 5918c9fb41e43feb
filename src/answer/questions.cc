// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "mixcert/answer/questions.h"

#include <algorithm>
#include <utility>

namespace mixcert {
namespace {

std::vector<CredibleInterval> credible_of_targets(const CertifiedLaw& law, const AnswerOptions& options) {
  std::vector<CredibleInterval> intervals;
  const Index targets = target_count(law.dimension(), options);
  for (Index target = 0; target < targets; ++target) {
    const CertifiedLine line = coordinate(law, target);
    intervals.push_back(
        credible_interval(options.noise_std ? line.with_noise(*options.noise_std) : line, options.level));
  }
  return intervals;
}

}  // namespace

LawAnswers answer(const CertifiedLaw& law, const Questions& questions, const AnswerOptions& options,
                  std::uint64_t index) {
  LawAnswers answers;
  answers.moments = certified_moments(law);
  if (options.noise_std || options.head != NoiseHead::None)
    answers.predictive = predictive_moments(law, options);
  answers.credible = credible_of_targets(law, options);
  if (questions.covariances) answers.covariances = certified_covariances(law);
  // All answers of a law that samples may go into hold together but for options.failure_probability.
  IntegrationOptions integration = options.integration();
  const std::size_t sampled = questions.statements.size() + (questions.classes ? 1 : 0);
  integration.failure_probability /= static_cast<double>(std::max<std::size_t>(1, sampled));
  if (questions.classes) answers.classes = class_answer(law, integration, index);
  for (const Statement& statement : questions.statements)
    answers.probabilities.push_back(probability(law, statement, integration));
  return answers;
}

}  // namespace mixcert
