// Licensed under the Apache License, Version 2.0; see LICENSE.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "report/terminal/text_report.h"

namespace mixcert {
namespace {

/// Digits that leave three for the width of the range, and four at least.
int digits_for(double lower, double upper) {
  const double size = std::max(std::abs(lower), std::abs(upper));
  const double width = upper - lower;
  if (!std::isfinite(size) || !(width > 0.0) || size == 0.0) return 4;
  return std::clamp(static_cast<int>(std::ceil(std::log10(size / width))) + 3, 4, 7);
}

std::string range_text(double lower, double upper) {
  const int digits = digits_for(lower, upper);
  return fmt::format("[{}, {}]", outward_number(lower, digits, -1), outward_number(upper, digits, +1));
}

std::string input_name(bool joint, Index input) { return joint ? "joint" : std::to_string(input); }

}  // namespace

std::string interval_text(const Interval& interval) {
  const std::string estimate =
      std::isnan(interval.estimate)
          ? "-"
          : fmt::format("{:.{}g}", interval.estimate, digits_for(interval.lower, interval.upper));
  return estimate + " " + range_text(interval.lower, interval.upper);
}

AnswerReport::AnswerReport(AnswerTopic topic, Index row_limit)
    : topic_(std::move(topic)),
      row_limit_(row_limit),
      outputs_table_({{"input", 5},
                      {"output", 7},
                      {"W2 bound", 9},
                      {"mean", 28},
                      {"standard deviation", 28},
                      {short_percent(topic_.options.level) + " interval", 22}}),
      variances_table_({{"input", 5},
                        {"target", 7},
                        {"epistemic variance", 28},
                        {"aleatoric variance", 28},
                        {"total variance", 28}}),
      covariances_table_({{"input", 5}, {"outputs", 9}, {"covariance", 32}}),
      classes_table_({{"input", 5},
                      {"class", 5},
                      {"probability", 28},
                      {"next", 5},
                      {"probability", 28},
                      {"settled", 7}}),
      probabilities_table_({{"input", 5}, {"probability", 28}, {"of", 12}}),
      simulated_table_({{"input", 5}, {"by simulation", 28}, {"of", 12}}) {}

void AnswerReport::add_line(Rows& rows, const std::string& line) const {
  if (static_cast<Index>(rows.lines.size()) < row_limit_) {
    rows.lines.push_back(line);
  } else {
    ++rows.left_out;
  }
}

std::string AnswerReport::output_name(Index coordinate) const {
  if (!topic_.joint) return "y" + std::to_string(coordinate);
  return fmt::format("y[{},{}]", coordinate / topic_.outputs, coordinate % topic_.outputs);
}

void AnswerReport::add_outputs(Index input, const CertifiedLaw& law, const LawAnswers& answers) {
  for (std::size_t i = 0; i < answers.moments.means.size(); ++i) {
    const std::string credible =
        i < answers.credible.size() ? range_text(answers.credible[i].lower, answers.credible[i].upper) : "-";
    add_line(outputs_,
             outputs_table_.row({input_name(topic_.joint, input), output_name(static_cast<Index>(i)),
                                 std::isfinite(law.w2()) ? short_bound(law.w2()) : "-",
                                 interval_text(answers.moments.means[i]),
                                 interval_text(answers.moments.deviations[i]), credible}));
  }
}

void AnswerReport::add_variances(Index input, const LawAnswers& answers) {
  for (std::size_t i = 0; i < answers.predictive.size(); ++i) {
    const PredictiveMoments& target = answers.predictive[i];
    add_line(variances_,
             variances_table_.row({input_name(topic_.joint, input), output_name(static_cast<Index>(i)),
                                   interval_text(target.epistemic), interval_text(target.aleatoric),
                                   interval_text(target.total)}));
  }
}

void AnswerReport::add_covariances(Index input, const LawAnswers& answers) {
  if (!answers.covariances) return;
  const Index size = answers.covariances->estimate.rows();
  for (Index i = 0; i < size; ++i) {
    for (Index j = i; j < size; ++j) {
      add_line(covariances_,
               covariances_table_.row({input_name(topic_.joint, input), output_name(i) + " " + output_name(j),
                                       interval_text(answers.covariances->entry(i, j))}));
    }
  }
}

void AnswerReport::add_classes(Index input, const LawAnswers& answers) {
  if (!answers.classes) return;
  const ClassAnswer& classes = *answers.classes;
  const auto predicted = static_cast<std::size_t>(classes.predicted);
  std::size_t next = predicted == 0 ? 1 : 0;
  for (std::size_t c = 0; c < classes.probabilities.size(); ++c) {
    if (c != predicted && classes.probabilities[c].estimate > classes.probabilities[next].estimate) next = c;
  }
  settled_ += classes.settled ? 1 : 0;
  sampled_ = true;
  add_line(classes_,
           classes_table_.row({std::to_string(input), std::to_string(predicted),
                               interval_text(classes.probabilities[predicted]), std::to_string(next),
                               interval_text(classes.probabilities[next]), classes.settled ? "yes" : "no"}));
}

void AnswerReport::add_probabilities(Index input, const LawAnswers& answers) {
  for (std::size_t s = 0; s < answers.probabilities.size(); ++s) {
    const ProbabilityAnswer& answer = answers.probabilities[s];
    sampled_ = sampled_ || answer.failure_probability > 0.0;
    computed_ = computed_ || answer.is_computed;
    add_line(probabilities_,
             probabilities_table_.row(
                 {input_name(topic_.joint, input), interval_text(answer.interval), topic_.statements[s]}));
  }
}

void AnswerReport::add(Index input, const CertifiedLaw& law, const LawAnswers& answers) {
  ++inputs_;
  without_bound_ += std::isfinite(law.w2()) ? 0 : 1;
  add_outputs(input, law, answers);
  add_variances(input, answers);
  add_covariances(input, answers);
  add_classes(input, answers);
  add_probabilities(input, answers);
}

void AnswerReport::add_simulated(Index input, const SimulatedAnswers& answers) {
  const auto add = [&](Rows& rows, const std::string& range, const std::string& of) {
    add_line(rows, simulated_table_.row({input_name(topic_.joint, input), range, of}));
  };
  for (std::size_t s = 0; s < answers.probabilities.size(); ++s)
    add(simulated_, interval_text(answers.probabilities[s]), "probability of " + topic_.statements[s]);
  if (answers.classes) {
    const ClassAnswer& classes = *answers.classes;
    add(simulated_, interval_text(classes.probabilities[static_cast<std::size_t>(classes.predicted)]),
        fmt::format("expected probability of class {}{}", classes.predicted,
                    classes.settled ? ", the largest" : ", not settled"));
  }
  for (std::size_t i = 0; i < answers.credible.size(); ++i) {
    const SimulatedInterval& interval = answers.credible[i];
    add(simulated_intervals_, range_text(interval.lower, interval.upper),
        fmt::format("{} interval of {}", short_percent(interval.level), output_name(static_cast<Index>(i))));
  }
}

std::string AnswerReport::section(const std::string& title, const TextTable& table, const Rows& rows) {
  if (rows.lines.empty()) return "";
  std::string text = "\n" + title + "\n" + table.header();
  for (const std::string& line : rows.lines) text += line;
  if (rows.left_out > 0) text += fmt::format("  ... and {} more (--json writes all)\n", rows.left_out);
  return text;
}

std::string AnswerReport::text() const {
  std::string text = section("Classes: expected softmax probability", classes_table_, classes_);
  if (topic_.classes) {
    text += fmt::format(
        "\nclass settled at {} of {} ({:.1f} %): no law within the bound has another largest expected "
        "probability\n",
        settled_, counted(inputs_, "input"),
        100.0 * static_cast<double>(settled_) / static_cast<double>(inputs_));
  }
  text += section("Probabilities", probabilities_table_, probabilities_);
  // Who asks about many classifications does not look at logits; --json has them.
  if (!topic_.classes || inputs_ == 1) {
    text += section("Outputs: the mixture's value [proven range of the network's]", outputs_table_, outputs_);
    if (topic_.options.noise_std) text += "the interval is one of observations\n";
  }
  text += section("Variance of an observation", variances_table_, variances_);
  text += section("Covariances", covariances_table_, covariances_);
  const bool has_intervals = !topic_.classes || inputs_ == 1;
  text += section("By simulation: from draws of the network itself", simulated_table_, simulated_);
  if (has_intervals)
    text += section("Intervals by simulation: from draws of the network itself", simulated_table_,
                    simulated_intervals_);
  return text + remarks();
}

std::string AnswerReport::remarks() const {
  std::string text;
  if (!simulated_.lines.empty() || !simulated_intervals_.lines.empty()) {
    text += fmt::format(
        "\nanswers by simulation are ranges from {} at each input, taken as independent and exact draws of "
        "the network; those of an input fail with probability {}, of all {} together with {:.6g}\n",
        counted(topic_.options.samples, "draw"), topic_.options.failure_probability,
        counted(inputs_, "input"), topic_.options.failure_probability * static_cast<double>(inputs_));
  }
  if (sampled_) {
    text += fmt::format(
        "\nintegrals of the mixture by {} samples: ranges include their error and hold, for each input, but "
        "for "
        "probability {}, all {} together but for {:.6g}\n",
        topic_.options.samples, topic_.options.failure_probability, counted(inputs_, "input"),
        topic_.options.failure_probability * static_cast<double>(inputs_));
  }
  if (computed_) {
    text +=
        "\nprobabilities are those of the output's computed law and its proven error, which say more than "
        "the "
        "bound\n";
  }
  if (without_bound_ > 0) {
    text += fmt::format("\n{} without a bound: ranges there hold for every law\n",
                        counted(without_bound_, "input"));
  }
  return text;
}

std::string scores_text(const RegressionSummary& summary) {
  std::string text = fmt::format("\nScores over {}: the mixture's value [proven range of the network's]\n",
                                 counted(summary.points, "labelled input"));
  text += fmt::format("  RMSE  {}\n", interval_text(summary.rmse));
  if (std::isfinite(summary.nll.estimate)) text += fmt::format("  NLL   {}\n", interval_text(summary.nll));
  text += fmt::format("  CRPS  {}\n", interval_text(summary.crps));
  const TextTable table({{"level", 7}, {"labels inside", 28}});
  text += table.header();
  for (const Coverage& coverage : summary.coverage)
    text += table.row({short_percent(coverage.level), interval_text(coverage.share)});
  return text;
}

std::string scores_text(const ClassSummary& summary) {
  std::string text = fmt::format("\nScores over {}: the mixture's value [proven range of the network's]\n",
                                 counted(summary.points, "labelled input"));
  text += fmt::format("  accuracy  {}\n  NLL       {}\n  Brier     {}\n", interval_text(summary.accuracy),
                      interval_text(summary.nll), interval_text(summary.brier));
  text += fmt::format("  expected calibration error of the mixture, 15 bins (estimate): {}\n",
                      short_number(summary.calibration_error));
  const double correct = summary.accuracy.estimate * static_cast<double>(summary.points);
  text += fmt::format(
      "  settled: {} of {}; of {} classified correctly {} are settled ({:.1f} %)\n", summary.settled,
      counted(summary.points, "point"), std::lround(correct), summary.correct_and_settled,
      correct > 0.0 ? 100.0 * static_cast<double>(summary.correct_and_settled) / correct : 0.0);
  return text;
}

}  // namespace mixcert
