// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "answer_subjects.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/text_table.h"
#include "mixcert/certify/result_text.h"
#include "mixcert/core/error.h"
#include "mixcert/io/input_file.h"
#include "mixcert/statistics/simulate.h"
#include "recorded_model.h"
#include "terminal.h"

namespace mixcert::cli {

CertifiedLaw Subjects::law(Index place) const {
  const StoredResult& stored = results[static_cast<std::size_t>(place)];
  return {stored.mixture, stored.w2_bound, stored.w1_bound, stored.distribution};
}

Matrix Subjects::draws(Index place, const AnswerOptions& options) const {
  const SimulationOptions simulation{options.samples, options.seed, 1, &cancel_flag()};
  if (joint) return simulate_joint(*ensemble, drawn_inputs, simulation);
  return mixcert::simulate(*ensemble, drawn_inputs.col(place), first + place, simulation);
}

namespace {

/// What draws need: the networks of the run, and its inputs.
void prepare_draws(const StoredRun& run, const AnswerArguments& arguments, Subjects& subjects) {
  require(arguments.simulate || arguments.models.empty(),
          "option --model: expected --simulate, which draws from the network");
  if (!arguments.simulate) return;
  subjects.ensemble = load_recorded(run, arguments.models, "answer --simulate");
  require(run.options().predictive == Predictive::Network,
          "option --simulate: the result is the law of the linearised network (glm), and draws are of the "
          "network itself");
  require(
      std::isnan(run.results.front().input_change),
      "option --simulate: the result holds in a ball or cell of inputs, and draws are of the network at one");
  subjects.drawn_inputs = run.inputs;
  if (arguments.input) subjects.drawn_inputs = Matrix(run.inputs.col(*arguments.input));
}

/// Radius and norm alone: files of other versions may have options that are not known.
Options ball_of(const RunRecord& run) {
  Options options;
  for (const auto& [name, value] : run.options) {
    if (value.empty() || (name != "radius" && name != "norm")) continue;
    for (const auto& field : option_table()) {
      if (field.name == name) field.set(options, value);
    }
  }
  return options;
}

void note_where_ranges_hold(const StoredRun& run, Subjects& subjects) {
  for (const StoredResult& result : run.results) {
    if (result.cell) subjects.cells.push_back(*result.cell);
  }
  const std::string ball = run.run ? inputs_in_words(ball_of(*run.run)) : "";
  if (!ball.empty()) subjects.holds_at = ball + " of each input";
  if (!subjects.cells.empty()) subjects.holds_at = "every input of each cell";
}

/// Throws InvalidArgument where there is no such row.
void check_input(const AnswerArguments& arguments, const StoredRun& run, bool is_joint) {
  if (!arguments.input) return;
  const auto count = static_cast<Index>(run.results.size());
  if (is_joint) throw InvalidArgument("option --input: the result is one law over all inputs");
  if (*arguments.input < 0 || *arguments.input >= count)
    throw InvalidArgument(fmt::format("option --input: expected 0..{}, got {}", count - 1, *arguments.input));
}

}  // namespace

Subjects read_subjects(const AnswerArguments& arguments) {
  StoredRun run = read_run(arguments.result);
  Subjects subjects;
  check_input(arguments, run, run.run && run.run->joint);
  prepare_draws(run, arguments, subjects);
  note_where_ranges_hold(run, subjects);
  const Index dimension = run.results.front().mixture.dimension();
  subjects.joint = run.run && run.run->joint;
  subjects.shape = {dimension, 1};
  if (subjects.joint && run.run->outputs > 0)
    subjects.shape = {run.run->outputs, dimension / run.run->outputs};
  subjects.results = std::move(run.results);
  subjects.run = std::move(run.run);
  if (!subjects.joint) subjects.inputs = std::move(run.inputs);
  if (arguments.report.classes && (subjects.joint || subjects.shape.outputs < 2))
    throw InvalidArgument("option --classes: expected laws of two outputs or more at single inputs");
  if (!arguments.input) return subjects;
  subjects.first = *arguments.input;
  subjects.results = {std::move(subjects.results[static_cast<std::size_t>(*arguments.input)])};
  if (subjects.inputs.cols() > 0) subjects.inputs = Matrix(subjects.inputs.col(*arguments.input));
  return subjects;
}

Questions read_questions(const AnswerArguments& arguments, const Subjects& subjects) {
  Questions questions;
  questions.covariances = arguments.covariances;
  questions.classes = arguments.report.classes;
  for (const std::string& text : arguments.statements)
    questions.statements.push_back(parse_statement(text, subjects.shape));
  return questions;
}

Matrix read_labels(const AnswerArguments& arguments, const Subjects& subjects) {
  if (!arguments.labels) return {};
  if (subjects.joint) throw InvalidArgument("option --labels: the result is one law over all inputs");
  const Matrix all = read_inputs(*arguments.labels);
  const Index outputs = subjects.shape.outputs;
  const Index wanted = arguments.report.classes ? 1 : target_count(outputs, arguments.options);
  const auto count = static_cast<Index>(subjects.results.size());
  if (all.rows() != wanted || all.cols() < subjects.first + count)
    throw FileError(fmt::format("{}: expected labels of {} with {} each, got {} with {}", *arguments.labels,
                                counted(subjects.first + count, "input"), wanted, all.cols(), all.rows()));
  Matrix labels = all.middleCols(subjects.first, count);
  if (!arguments.report.classes) return labels;
  for (Index i = 0; i < count; ++i) {
    const double label = labels(0, i);
    if (label != std::floor(label) || label < 0.0 || label >= static_cast<double>(outputs))
      throw FileError(fmt::format("{}: row {}: expected a class in 0..{}, got {}", *arguments.labels,
                                  subjects.first + i, outputs - 1, label));
  }
  return labels;
}

}  // namespace mixcert::cli
