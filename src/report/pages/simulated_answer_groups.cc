// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers by draws of the network (mixcert/answer/simulated_answers.h) in the report of `mixcert answer`:
// tables of their own, in the colour of what is certified by simulation.
#include <fmt/format.h>

#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

AnswerGroup empty_group(const std::string& title, const std::string& explanation) {
  AnswerGroup group{title, explanation, {}};
  group.tone = Tone::Simulated;
  return group;
}

std::string how_sure(const AnsweredRun& run) {
  const double each = run.topic.options.failure_probability;
  return fmt::format(
      "From {} of the network at each input, taken as independent and exact; no bound is used. All ranges of "
      "an input together fail with probability {:g}.",
      counted(run.simulated.front().draws, "draw"), each);
}

}  // namespace

std::vector<AnswerGroup> simulated_groups(const AnsweredRun& run) {
  if (run.simulated.empty()) return {};
  const std::string sure = how_sure(run);
  AnswerGroup classes =
      empty_group("Classes, by simulation", "Expected softmax probability of the predicted class. " + sure);
  AnswerGroup statements = empty_group("Probabilities, by simulation", sure);
  AnswerGroup credible = empty_group(
      fmt::format("Intervals that hold {:g} % of the probability at least, by simulation",
                  100.0 * run.topic.options.level),
      (run.topic.options.noise_std ? "Of an observation, noise included. " : "Of the output. ") + sure);
  for (std::size_t i = 0; i < run.simulated.size(); ++i) {
    const Index input = run.first_input + static_cast<Index>(i);
    const SimulatedAnswers& answers = run.simulated[i];
    const std::string image = i < run.images.size() ? run.images[i] : std::string();
    if (answers.classes) {
      const auto predicted = static_cast<std::size_t>(answers.classes->predicted);
      classes.rows.push_back({input, fmt::format("class {}", predicted),
                              answers.classes->probabilities[predicted],
                              answers.classes->settled ? "settled" : "not settled", image});
    }
    for (std::size_t s = 0; s < answers.probabilities.size(); ++s)
      statements.rows.push_back({input, run.topic.statements[s], answers.probabilities[s], {}, image});
    for (std::size_t k = 0; k < answers.credible.size(); ++k) {
      const SimulatedInterval& interval = answers.credible[k];
      credible.rows.push_back({input,
                               output_name(run.topic, k),
                               {std::numeric_limits<double>::quiet_NaN(), interval.lower, interval.upper},
                               fmt::format("{:.4g} % of the draws are in it", 100.0 * interval.share),
                               image});
    }
  }
  std::vector<AnswerGroup> groups;
  for (AnswerGroup* group : {&classes, &statements, &credible}) {
    if (!group->rows.empty()) groups.push_back(std::move(*group));
  }
  return groups;
}

}  // namespace mixcert::page
