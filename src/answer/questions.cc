// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of what may be asked, and all questions about one law answered together.
#include "mixcert/answer/questions.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mixcert {
namespace {

using O = AnswerOptions;

constexpr Index kMostSamples = 20'000'000;

/// A number strictly between 0 and 1.
OptionField<O> open_unit_option(const std::string& name, double O::*member, std::string help) {
  OptionField<O> field = range_option(name, member, 0.0, 1.0, std::move(help));
  field.constraint = "a number above 0 and below 1";
  field.set = [=, constraint = field.constraint](O& owner, const std::string& text) {
    const auto value = parse_number<double>(text);
    if (!value || !(*value > 0.0) || !(*value < 1.0)) bad_option(name, constraint, text);
    owner.*member = *value;
  };
  return field;
}

OptionTable<O> make_table() {
  return {
      open_unit_option("level", &O::level, "probability of credible and predictive intervals"),
      integer_option<O, Index>("samples", &O::samples, 2, kMostSamples,
                               "samples of the mixture where there is no closed form"),
      open_unit_option("failure-probability", &O::failure_probability,
                       "chance that a sampled interval of an input misses"),
      integer_option<O, std::uint64_t>("seed", &O::seed, 0, std::numeric_limits<std::uint64_t>::max(),
                                       "of the samples"),
      real_option("noise-std", &O::noise_std, 0.0, "deviation of the observation noise; unset: none"),
      choice_option("head", &O::head,
                    {{NoiseHead::None, "none"},
                     {NoiseHead::Softplus, "softplus"},
                     {NoiseHead::LogVariance, "log-variance"}},
                    "what the second half of the outputs says about the noise"),
      integer_option<O, int>("threads", &O::threads, 0, 4096, "0: one per processor"),
  };
}

}  // namespace

const OptionTable<AnswerOptions>& answer_option_table() {
  static const OptionTable<AnswerOptions> table = make_table();
  return table;
}

void AnswerOptions::validate() const {
  AnswerOptions copy;
  for (const auto& field : answer_option_table()) {
    const std::string text = field.get(*this);
    if (!text.empty()) field.set(copy, text);
  }
  if (noise_std && head != NoiseHead::None)
    throw InvalidArgument("option --noise-std: expected none beside --head, which says what the noise is");
}

// All questions about one law.

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
