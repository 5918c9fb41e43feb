// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of answers.
#include "mixcert/answer/options.h"

#include <limits>

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

}  // namespace mixcert
