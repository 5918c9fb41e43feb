// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "answer/simulated_questions.h"

#include <cmath>

#include "mixcert/answer/simulated_answers.h"
#include "mixcert/statistics/simulate.h"
#include "support/layer_kinds.h"

namespace mixcert::testing {
namespace {

/// Is the share of the many draws, within four standard errors, in the range?
bool holds(const Interval& range, double share, Index reference) {
  const double error = 4.0 * std::sqrt(share * (1.0 - share) / static_cast<double>(reference)) + 1e-12;
  return range.lower <= share + error && share - error <= range.upper;
}

double share(const Eigen::Array<bool, 1, Eigen::Dynamic>& inside) {
  return static_cast<double>(inside.count()) / static_cast<double>(inside.size());
}

void ask(const LayerKindCase& at, const AnswerOptions& options, Index reference, QuestionCount& count) {
  SimulationOptions simulation;
  simulation.samples = reference;
  simulation.seed = 4711;
  const Matrix many = simulate(at.ensemble, at.input, 0, simulation);
  simulation.samples = options.samples;
  simulation.seed = options.seed;
  const Matrix few = simulate(at.ensemble, at.input, 0, simulation);
  // Thresholds where something happens, from the many draws.
  const Vector means = many.rowwise().mean();
  Questions questions;
  questions.classes = true;
  Matrix rows = Matrix::Zero(1, 3);
  rows(0, 0) = 1.0;
  questions.statements.push_back({rows, means.head(1)});
  rows(0, 1) = -1.0;
  questions.statements.push_back({rows, Vector::Zero(1)});
  questions.statements.push_back({Matrix::Identity(3, 3), means});
  const SimulatedAnswers answers = simulated_answers(few, questions, options);
  const auto tally = [&](bool held) {
    ++count.asked;
    count.missed += held ? 0 : 1;
  };
  tally(holds(answers.probabilities[0], share(many.row(0).array() > means(0)), reference));
  tally(holds(answers.probabilities[1], share(many.row(0).array() > many.row(1).array()), reference));
  tally(holds(answers.probabilities[2], share((many.colwise() - means).array().colwise().minCoeff() > 0.0),
              reference));
  for (Index i = 0; i < 3; ++i) {
    const SimulatedInterval& interval = answers.credible[static_cast<std::size_t>(i)];
    const double mass = share(many.row(i).array() >= interval.lower && many.row(i).array() <= interval.upper);
    tally(holds({mass, interval.level, 1.0}, mass, reference));
  }
  const Matrix powers = many.array().exp();
  const double first = (powers.row(0).array() / powers.colwise().sum().array()).mean();
  const Interval& probability = answers.classes->probabilities.front();
  const double error = 2.0 / std::sqrt(static_cast<double>(reference));
  tally(probability.lower <= first + error && first - error <= probability.upper);
}

}  // namespace

QuestionCount ask_every_kind(std::uint64_t repeats, double failure, Index draws, Index reference) {
  QuestionCount count;
  AnswerOptions options;
  options.failure_probability = failure;
  options.samples = draws;
  for (std::uint64_t seed = 0; seed < repeats; ++seed) {
    options.seed = seed;
    for (const LayerKindCase& at : layer_kind_cases(100 + seed)) ask(at, options, reference, count);
  }
  return count;
}

}  // namespace mixcert::testing
