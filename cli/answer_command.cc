// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert answer: what the bounds of a result say about means, probabilities, classes and scores.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answer_json.h"
#include "command.h"
#include "mixcert/answer/questions.h"
#include "mixcert/answer/scores.h"
#include "mixcert/answer/statement_parser.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/io/inputs.h"
#include "mixcert/io/result_file.h"
#include "report/answer_report.h"
#include "run_context.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

struct AnswerArguments {
  std::string result;
  std::optional<Index> input;
  std::vector<std::string> statements;
  std::optional<std::string> labels;
  std::optional<std::string> json;
  Questions questions;
  AnswerOptions options;
};

/// The laws of the file, and which of them are asked about.
struct Subjects {
  std::vector<StoredResult> results;
  OutputShape shape;
  bool joint = false;
  Index first = 0;  ///< number of the first law among the inputs
};

Subjects read_subjects(const AnswerArguments& arguments) {
  StoredRun run = read_run(arguments.result);
  Subjects subjects;
  const Index dimension = run.results.front().mixture.dimension();
  subjects.joint = run.run && run.run->joint;
  subjects.shape = {dimension, 1};
  if (subjects.joint && run.run->outputs > 0)
    subjects.shape = {run.run->outputs, dimension / run.run->outputs};
  subjects.results = std::move(run.results);
  if (!arguments.input) return subjects;
  const auto count = static_cast<Index>(subjects.results.size());
  if (subjects.joint) throw InvalidArgument("option --input: the result is one law over all inputs");
  if (*arguments.input < 0 || *arguments.input >= count)
    throw InvalidArgument(fmt::format("option --input: expected 0..{}, got {}", count - 1, *arguments.input));
  subjects.first = *arguments.input;
  subjects.results = {std::move(subjects.results[static_cast<std::size_t>(*arguments.input)])};
  return subjects;
}

/// One column per law; empty where none were given.
Matrix read_labels(const AnswerArguments& arguments, const Subjects& subjects) {
  if (!arguments.labels) return {};
  if (subjects.joint) throw InvalidArgument("option --labels: the result is one law over all inputs");
  const Matrix all = read_inputs(*arguments.labels);
  const Index outputs = subjects.shape.outputs;
  const Index wanted = arguments.questions.classes ? 1 : target_count(outputs, arguments.options);
  const auto count = static_cast<Index>(subjects.results.size());
  if (all.rows() != wanted || all.cols() < subjects.first + count)
    throw FileError(fmt::format("{}: expected labels of {} with {} each, got {} with {}", *arguments.labels,
                                counted(subjects.first + count, "input"), wanted, all.cols(), all.rows()));
  const Matrix labels = all.middleCols(subjects.first, count);
  if (!arguments.questions.classes) return labels;
  for (Index i = 0; i < count; ++i) {
    const double label = labels(0, i);
    if (label != std::floor(label) || label < 0.0 || label >= static_cast<double>(outputs))
      throw FileError(fmt::format("{}: row {}: expected a class in 0..{}, got {}", *arguments.labels,
                                  subjects.first + i, outputs - 1, label));
  }
  return labels;
}

/// All that is found out about one law.
struct Answered {
  LawAnswers answers;
  RegressionPoint regression;
  ClassPoint classes;
};

Answered answer_one(const CertifiedLaw& law, const AnswerArguments& arguments, ConstMatrixRef labels,
                    Index place, Index input) {
  const auto stream = static_cast<std::uint64_t>(input);
  Answered answered;
  answered.answers = answer(law, arguments.questions, arguments.options, stream);
  if (labels.cols() == 0) return answered;
  if (arguments.questions.classes) {
    answered.classes = score_class(law, *answered.answers.classes, static_cast<Index>(labels(0, place)));
  } else {
    answered.regression = score_regression(law, labels.col(place), arguments.options, stream);
  }
  return answered;
}

void write_json(AtomicFile& file, const AnswerArguments& arguments, nlohmann::ordered_json results,
                const std::optional<nlohmann::ordered_json>& scores) {
  nlohmann::ordered_json json{
      {"mixcert", version()}, {"result", arguments.result}, {"command", command_line()}};
  for (const auto& field : answer_option_table()) json["options"][field.name] = field.get(arguments.options);
  if (scores) json["scores"] = *scores;
  json["results"] = std::move(results);
  commit_json(file, json);
  std::printf("wrote %s\n", arguments.json->c_str());
}

void run_answer(AnswerArguments& arguments) {
  arguments.options.validate();
  check_outputs({{"RESULT", arguments.result}, {"--labels", arguments.labels}}, {{"--json", arguments.json}});
  const Subjects subjects = read_subjects(arguments);
  if (arguments.questions.classes && subjects.joint)
    throw InvalidArgument("option --classes: the result is one law over all inputs");
  for (const std::string& text : arguments.statements)
    arguments.questions.statements.push_back(parse_statement(text, subjects.shape));
  const Matrix labels = read_labels(arguments, subjects);
  std::optional<AtomicFile> file;
  if (arguments.json) file.emplace(*arguments.json);

  const auto count = static_cast<Index>(subjects.results.size());
  std::vector<Answered> answered(subjects.results.size());
  ProgressBar progress("answer", count);
  const auto law_of = [&](Index i) {
    const StoredResult& stored = subjects.results[static_cast<std::size_t>(i)];
    return CertifiedLaw(stored.mixture, stored.w2_bound, stored.w1_bound);
  };
  parallel_for(
      count, arguments.options.threads,
      [&](Index i) {
        answered[static_cast<std::size_t>(i)] =
            answer_one(law_of(i), arguments, labels, i, subjects.first + i);
        progress.advance();
      },
      &cancel_flag());
  progress.clear();

  AnswerReport report({subjects.shape.outputs, subjects.joint, arguments.options, arguments.statements,
                       arguments.questions.covariances, arguments.questions.classes});
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  RegressionScores regression(arguments.options.level);
  ClassScores classes;
  for (Index i = 0; i < count; ++i) {
    const Answered& one = answered[static_cast<std::size_t>(i)];
    report.add(subjects.first + i, law_of(i), one.answers);
    if (file)
      results.push_back(answers_json(subjects.first + i, law_of(i), one.answers, arguments.statements));
    if (labels.cols() > 0 && arguments.questions.classes) classes.add(one.classes);
    if (labels.cols() > 0 && !arguments.questions.classes) regression.add(one.regression);
  }
  std::fputs(report.text().c_str(), stdout);
  std::optional<nlohmann::ordered_json> scores;
  if (labels.cols() > 0) {
    const bool of_classes = arguments.questions.classes;
    std::fputs((of_classes ? scores_text(classes.summary()) : scores_text(regression.summary())).c_str(),
               stdout);
    scores = of_classes ? scores_json(classes.summary()) : scores_json(regression.summary());
  }
  if (file) write_json(*file, arguments, std::move(results), scores);
}

}  // namespace

void add_answer_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("answer", "means, probabilities, classes and scores with proven ranges");
  auto arguments = std::make_shared<AnswerArguments>();
  command->add_option("result", arguments->result, "result of mixcert certify (.npz)")
      ->required()
      ->type_name("FILE");
  command->add_option("--input", arguments->input, "one input alone; the first is 0")->type_name("N");
  command
      ->add_option("--probability", arguments->statements,
                   "of a statement, e.g. 'y3 > 0', 'class 3 beats class 5', '-1 < y0 < 1 and y1 > 0'")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command->add_flag("--covariance", arguments->questions.covariances, "of all pairs of outputs");
  command->add_flag("--classes", arguments->questions.classes,
                    "outputs are logits: class probabilities, and whether the class is settled");
  command
      ->add_option("--labels", arguments->labels, "what was observed (.csv, .npy): scores with proven ranges")
      ->type_name("FILE");
  command->add_option("--json", arguments->json, "write every answer")->type_name("FILE");
  add_table_options(*command, answer_option_table(), arguments->options);
  command->footer(
      "Outputs and classes are numbered from 0; in a joint result y[2,0] is output 0 at input 2.\n"
      "Example:\n  mixcert answer r.npz --probability 'y0 > 0.5' --noise-std 0.1");
  command->callback([arguments] { run_answer(*arguments); });
}

}  // namespace mixcert::cli
