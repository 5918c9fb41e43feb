// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert answer: what the bounds of a result say about means, probabilities, classes and scores.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answer_subjects.h"
#include "command.h"
#include "command_json.h"
#include "mixcert/answer/scores.h"
#include "mixcert/core/version.h"
#include "report/pages/command_pages.h"
#include "report/pages/page_parts.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

std::vector<std::string> pictures(const ReportFlags& flags, const Subjects& subjects) {
  std::vector<std::string> images;
  if (!flags.image || subjects.inputs.cols() == 0) return images;
  const std::optional<LayerShape> shape = flags.image_of("", subjects.inputs.rows());
  const double low = subjects.inputs.minCoeff();
  const double high = subjects.inputs.maxCoeff();
  for (Index i = 0; i < subjects.inputs.cols(); ++i)
    images.push_back(page::png_image(subjects.inputs.col(i), *shape, low, high));
  return images;
}

page::RunFacts facts_of(const AnswerArguments& arguments, const Subjects& subjects) {
  page::RunFacts facts;
  facts.version = version();
  facts.command = command_line();
  facts.seed = arguments.options.seed;
  for (const auto& field : answer_option_table())
    facts.options.emplace_back(field.name, field.get(arguments.options));
  if (!subjects.run) return facts;
  facts.assumptions = subjects.run->assumptions;
  for (std::size_t i = 0; i < subjects.run->model_files.size(); ++i) {
    const std::vector<ModelRecord>& members = subjects.run->members;
    facts.models.push_back({subjects.run->model_files[i],
                            i < members.size() ? members[i].sha256 : subjects.run->model_sha256,
                            i < members.size() ? members[i].weight : 1.0});
  }
  return facts;
}

/// Scores over the labelled set, if there are labels: of classes or of a regression.
class Scores {
 public:
  Scores(const AnswerArguments& arguments, Matrix labels)
      : arguments_(arguments), labels_(std::move(labels)), regression_(arguments.options.level) {}

  void add(const CertifiedLaw& law, const LawAnswers& answers, Index place, Index input) {
    if (!wanted()) return;
    if (answers.classes) {
      classes_.add(score_class(law, *answers.classes, static_cast<Index>(labels_(0, place))));
    } else {
      regression_.add(
          score_regression(law, labels_.col(place), arguments_.options, static_cast<std::uint64_t>(input)));
    }
  }
  [[nodiscard]] bool wanted() const { return labels_.cols() > 0; }
  [[nodiscard]] std::string text() const {
    if (!wanted()) return "";
    return of_classes() ? scores_text(classes_.summary()) : scores_text(regression_.summary());
  }
  [[nodiscard]] nlohmann::ordered_json json() const {
    return of_classes() ? scores_json(classes_.summary()) : scores_json(regression_.summary());
  }
  [[nodiscard]] std::vector<page::Headline> headlines() const {
    if (!wanted()) return {};
    return of_classes() ? page::score_headlines(classes_.summary())
                        : page::score_headlines(regression_.summary());
  }

 private:
  [[nodiscard]] bool of_classes() const { return arguments_.report.classes; }

  const AnswerArguments& arguments_;
  Matrix labels_;
  RegressionScores regression_;
  ClassScores classes_;
};

/// In parallel over the laws; each has random streams of its own.
std::vector<LawAnswers> answer_all(const AnswerArguments& arguments, const Subjects& subjects) {
  const Questions questions = read_questions(arguments, subjects);
  std::vector<LawAnswers> answers(subjects.results.size());
  ProgressBar progress("answer", subjects.count());
  parallel_for(
      subjects.count(), arguments.options.threads,
      [&](Index i) {
        answers[static_cast<std::size_t>(i)] = answer(subjects.law(i), questions, arguments.options,
                                                      static_cast<std::uint64_t>(subjects.first + i));
        progress.advance();
      },
      &cancel_flag());
  progress.clear();
  return answers;
}

/// By draws of the networks, where that is asked for.
std::vector<SimulatedAnswers> simulate_all(const AnswerArguments& arguments, const Subjects& subjects) {
  if (!subjects.ensemble) return {};
  const Index at_once = std::min<Index>(subjects.count(), resolve_thread_count(arguments.options.threads));
  SamplingFlags{.samples = arguments.options.samples}.check_memory(at_once * subjects.law(0).dimension());
  const Questions questions = read_questions(arguments, subjects);
  std::vector<SimulatedAnswers> answers(subjects.results.size());
  ProgressBar progress("simulate", subjects.count());
  parallel_for(
      subjects.count(), arguments.options.threads,
      [&](Index i) {
        answers[static_cast<std::size_t>(i)] =
            simulated_answers(subjects.draws(i, arguments.options), questions, arguments.options,
                              static_cast<std::uint64_t>(subjects.first + i));
        progress.advance();
      },
      &cancel_flag());
  progress.clear();
  return answers;
}

bool is_whole_box(const AnswerArguments& arguments, const Subjects& subjects) {
  return !subjects.cells.empty() && !arguments.input;
}

void write_json(AtomicFile& file, const AnswerArguments& arguments, const Subjects& subjects,
                const page::AnsweredRun& run, const Scores& scores) {
  nlohmann::ordered_json json{
      {"mixcert", version()}, {"result", arguments.result}, {"command", command_line()}};
  for (const auto& field : answer_option_table()) json["options"][field.name] = field.get(arguments.options);
  if (!subjects.holds_at.empty()) json["holds_at"] = subjects.holds_at;
  if (is_whole_box(arguments, subjects))
    json["box"] = extremes_json(all_extremes(run.answers, arguments.statements));
  if (scores.wanted()) json["scores"] = scores.json();
  json["results"] = nlohmann::ordered_json::array();
  for (Index i = 0; i < subjects.count(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    json["results"].push_back(
        answers_json(subjects.first + i, subjects.law(i), run.answers[place], arguments.statements));
    if (!run.simulated.empty())
      json["results"].back()["simulated"] = simulated_json(run.simulated[place], arguments.statements);
  }
  commit_json(file, json);
}

/// What y0 is where a sum of the network's outputs was certified.
std::string functional_line(const Subjects& subjects) {
  if (!subjects.run || subjects.run->functional.empty()) return "";
  return "y0 is " + subjects.run->functional + " of the network's outputs\n";
}

/// Where the ranges hold, if not at the inputs alone.
std::string place_line(const Subjects& subjects) {
  return subjects.holds_at.empty() ? "" : "the ranges hold at " + subjects.holds_at + "\n";
}

/// Of the ranges of one cell.
double box_failure(const AnswerArguments& arguments, const std::vector<LawAnswers>& answers) {
  double failure = 0.0;
  for (const LawAnswers& cell : answers)
    failure = std::max(failure, sampled_failure(cell, arguments.options));
  return failure;
}

/// What holds at every input of the box, where the result is of one.
std::string whole_box_text(const AnswerArguments& arguments, const Subjects& subjects,
                           const std::vector<LawAnswers>& answers) {
  if (!is_whole_box(arguments, subjects)) return "";
  return box_text(all_extremes(answers, arguments.statements), arguments.report.classes,
                  common_class(answers), box_failure(arguments, answers), subjects.cells);
}

void run_answer(const AnswerArguments& arguments) {
  arguments.options.validate();
  std::vector<NamedFile> read = {{"RESULT", arguments.result}, {"--labels", arguments.labels}};
  for (const std::string& model : arguments.models) read.push_back({"--model", model});
  check_outputs(read, {{"--json", arguments.json}, {"--report", arguments.report.report}});
  const Subjects subjects = read_subjects(arguments);
  Scores scores(arguments, read_labels(arguments, subjects));
  page::AnsweredRun run{{subjects.shape.outputs, subjects.joint, arguments.options, arguments.statements,
                         arguments.covariances, arguments.report.classes},
                        subjects.first,
                        {},
                        {},
                        pictures(arguments.report, subjects)};
  std::optional<AtomicFile> json;
  if (arguments.json) json.emplace(*arguments.json);
  ReportFile page(arguments.report);

  run.answers = answer_all(arguments, subjects);
  run.simulated = simulate_all(arguments, subjects);
  AnswerReport report(run.topic);
  for (Index i = 0; i < subjects.count(); ++i) {
    const CertifiedLaw law = subjects.law(i);
    const auto place = static_cast<std::size_t>(i);
    run.w2_bounds.push_back(law.w2());
    report.add(subjects.first + i, law, run.answers[place]);
    if (!run.simulated.empty()) report.add_simulated(subjects.first + i, run.simulated[place]);
    scores.add(law, run.answers[place], i, subjects.first + i);
  }
  std::fputs((functional_line(subjects) + place_line(subjects) + report.text() +
              whole_box_text(arguments, subjects, run.answers) + scores.text())
                 .c_str(),
             stdout);
  if (json) write_json(*json, arguments, subjects, run, scores);
  if (page.wanted()) {
    page::AnswerContents contents = page::answer_contents(run);
    contents.run = facts_of(arguments, subjects);
    contents.result_file = arguments.result;
    contents.holds_at = subjects.holds_at;
    for (page::Headline& headline : scores.headlines()) contents.headlines.push_back(std::move(headline));
    page.write(page::answer_page(contents));
  }
  for (const auto& path : {arguments.json, arguments.report.report}) {
    if (path) std::printf("wrote %s\n", path->c_str());
  }
}

}  // namespace

void add_answer_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("answer", "means, probabilities, classes and scores with proven ranges");
  auto arguments = std::make_shared<AnswerArguments>();
  command->add_option("RESULT", arguments->result, "result of mixcert certify (.npz)")
      ->required()
      ->type_name("FILE");
  command->add_option("--input", arguments->input, "one input alone; the first is 0")->type_name("N");
  command
      ->add_option("--probability", arguments->statements,
                   "of a statement such as 'y3 > y5' or '-1 < y0 < 1 and y1 > 0'")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command->add_flag("--simulate", arguments->simulate,
                    "answers by --samples draws of the network too; no bound needed");
  command->add_option("--model", arguments->models, "simulate: network file, where it moved; once for each")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_flag("--covariance", arguments->covariances, "of all pairs of outputs");
  command->add_option("--labels", arguments->labels, "what was observed (.csv, .npy), for scores")
      ->type_name("FILE");
  command->add_option("--json", arguments->json, "write every answer")->type_name("FILE");
  arguments->report.add_to(*command);
  arguments->report.add_subject_to(*command);
  add_table_options(*command, answer_option_table(), arguments->options);
  command->footer(
      "Outputs and classes are numbered from 0; in a joint result y[2,0] is output 0 at input 2.\n"
      "Example:\n  mixcert answer r.npz --probability 'y0 > 0.5' --noise-std 0.1");
  command->callback([arguments] { run_answer(*arguments); });
}

}  // namespace mixcert::cli
