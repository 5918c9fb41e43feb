// Licensed under the Apache License, Version 2.0; see LICENSE.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

constexpr const char* kWhatIsProven =
    "Mark: the mixture's value. Bar: the range in which the network's own value is proven to lie.";

/// Goes over all answers with the number of the input and its picture.
template <class Visit>
void for_each_input(const AnsweredRun& run, const Visit& visit) {
  for (std::size_t i = 0; i < run.answers.size(); ++i) {
    visit(run.first_input + static_cast<Index>(i), run.answers[i],
          i < run.images.size() ? run.images[i] : std::string());
  }
}

AnswerGroup class_group(const AnsweredRun& run) {
  AnswerGroup group{
      "Classes",
      std::string("Expected softmax probability of the predicted class. Settled: no law within the bound "
                  "has another class with the largest one. ") +
          kWhatIsProven,
      {},
      0.0,
      1.0};
  for_each_input(run, [&](Index input, const LawAnswers& answers, const std::string& image) {
    if (!answers.classes) return;
    const auto predicted = static_cast<std::size_t>(answers.classes->predicted);
    group.rows.push_back(
        {input, fmt::format("class {}", predicted), answers.classes->probabilities[predicted],
         answers.classes->settled ? "settled" : "not settled", image, answers.classes->probabilities});
  });
  return group;
}

AnswerGroup probability_group(const AnsweredRun& run) {
  AnswerGroup group{"Probabilities", kWhatIsProven, {}, 0.0, 1.0};
  for_each_input(run, [&](Index input, const LawAnswers& answers, const std::string& image) {
    for (std::size_t s = 0; s < answers.probabilities.size(); ++s)
      group.rows.push_back({input, run.topic.statements[s], answers.probabilities[s].interval, {}, image});
  });
  return group;
}

AnswerGroup moment_group(const AnsweredRun& run, bool deviations) {
  AnswerGroup group{deviations ? "Standard deviations" : "Means", kWhatIsProven, {}};
  for_each_input(run, [&](Index input, const LawAnswers& answers, const std::string& image) {
    const std::vector<Interval>& values = deviations ? answers.moments.deviations : answers.moments.means;
    for (std::size_t i = 0; i < values.size(); ++i)
      group.rows.push_back({input, output_name(run.topic, i), values[i], {}, image});
  });
  return group;
}

AnswerGroup credible_group(const AnsweredRun& run) {
  AnswerGroup group{
      fmt::format("Intervals that hold {:g} % of the probability at least", 100.0 * run.topic.options.level),
      run.topic.options.noise_std ? "Of an observation, noise included. Mark: the mixture's mean."
                                  : "Of the output. Mark: the mixture's mean.",
      {}};
  for_each_input(run, [&](Index input, const LawAnswers& answers, const std::string& image) {
    for (std::size_t i = 0; i < answers.credible.size(); ++i) {
      const CredibleInterval& credible = answers.credible[i];
      group.rows.push_back({input,
                            output_name(run.topic, i),
                            {answers.moments.means[i].estimate, credible.lower, credible.upper},
                            {},
                            image});
    }
  });
  return group;
}

AnswerGroup variance_group(const AnsweredRun& run) {
  AnswerGroup group{
      "Variance of an observation",
      std::string("Epistemic: of the network's mean output. Aleatoric: of the noise. ") + kWhatIsProven,
      {}};
  for_each_input(run, [&](Index input, const LawAnswers& answers, const std::string& image) {
    for (std::size_t i = 0; i < answers.predictive.size(); ++i) {
      const std::string name = output_name(run.topic, i);
      group.rows.push_back({input, name + ", epistemic", answers.predictive[i].epistemic, {}, image});
      group.rows.push_back({input, name + ", aleatoric", answers.predictive[i].aleatoric, {}, image});
    }
  });
  return group;
}

AnswerGroup covariance_group(const AnsweredRun& run) {
  AnswerGroup group{"Covariances", kWhatIsProven, {}};
  for_each_input(run, [&](Index input, const LawAnswers& answers, const std::string& image) {
    if (!answers.covariances) return;
    const Index size = answers.covariances->estimate.rows();
    for (Index i = 0; i < size; ++i) {
      for (Index j = i; j < size; ++j) {
        const std::string name = output_name(run.topic, static_cast<std::size_t>(i)) + " with " +
                                 output_name(run.topic, static_cast<std::size_t>(j));
        group.rows.push_back({input, name, answers.covariances->entry(i, j), {}, image});
      }
    }
  });
  return group;
}

void add_settled(const AnsweredRun& run, AnswerContents& contents) {
  if (!run.topic.classes) return;
  const auto settled = std::count_if(run.answers.begin(), run.answers.end(), [](const LawAnswers& answers) {
    return answers.classes && answers.classes->settled;
  });
  contents.headlines.push_back({"Class settled", fmt::format("{} of {}", settled, run.answers.size()),
                                "no law within the bound has another class", Tone::Certified});
}

void add_bounds(const AnsweredRun& run, AnswerContents& contents) {
  const auto missing = std::count_if(run.w2_bounds.begin(), run.w2_bounds.end(),
                                     [](double bound) { return !std::isfinite(bound); });
  const double worst = *std::max_element(run.w2_bounds.begin(), run.w2_bounds.end());
  contents.headlines.push_back(
      {"W2 bound, worst input", "\u2264 " + bound_text(worst), "what all ranges rest on", Tone::Certified});
  if (missing > 0)
    contents.warnings.push_back(fmt::format(
        "{} of {} results have no bound: ranges there hold for every law and say nothing about the network.",
        missing, run.w2_bounds.size()));
  if (run.topic.classes || !run.topic.statements.empty())
    contents.warnings.push_back(
        fmt::format("Where an integral of the mixture has no closed form it is a mean over {} samples. "
                    "Ranges contain its error and hold, for each input, but for probability {:g}.",
                    run.topic.options.samples, run.topic.options.failure_probability));
}

Headline score(const std::string& name, const Interval& interval, const std::string& note) {
  return {name, number_text(interval.estimate),
          fmt::format("the mixture's, over {}; the network's is proven to lie between {} and {}", note,
                      short_lower_bound(interval.lower), short_bound(interval.upper)),
          Tone::Plain};
}

}  // namespace

std::string output_name(const AnswerTopic& topic, std::size_t coordinate) {
  const auto place = static_cast<Index>(coordinate);
  if (!topic.joint) return fmt::format("output {}", place);
  return fmt::format("input {}, output {}", place / topic.outputs, place % topic.outputs);
}

AnswerContents answer_contents(const AnsweredRun& run) {
  AnswerContents contents;
  contents.inputs = static_cast<Index>(run.answers.size());
  add_bounds(run, contents);
  add_settled(run, contents);
  for (AnswerGroup& group : std::vector<AnswerGroup>{
           class_group(run), probability_group(run), moment_group(run, false), moment_group(run, true),
           credible_group(run), variance_group(run), covariance_group(run)}) {
    if (!group.rows.empty()) contents.groups.push_back(std::move(group));
  }
  for (AnswerGroup& group : simulated_groups(run)) contents.groups.push_back(std::move(group));
  return contents;
}

std::vector<Headline> score_headlines(const RegressionSummary& summary) {
  const std::string note = counted(summary.points, "labelled input");
  std::vector<Headline> headlines{score("RMSE", summary.rmse, note), score("CRPS", summary.crps, note)};
  if (std::isfinite(summary.nll.estimate)) headlines.push_back(score("NLL", summary.nll, note));
  return headlines;
}

std::vector<Headline> score_headlines(const ClassSummary& summary) {
  const std::string note = counted(summary.points, "labelled input");
  return {score("Accuracy", summary.accuracy, note), score("NLL", summary.nll, note)};
}

}  // namespace mixcert::page
