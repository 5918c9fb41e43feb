// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certified answers of a result, docs/answers.md: an answer is (estimate, lower, upper). Options and random
// streams are those of `mixcert answer`, so that both say the same.
#include <pybind11/stl.h>

#include <cmath>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "keywords.h"
#include "mixcert/answer/answers.h"
#include "mixcert/answer/questions.h"
#include "mixcert/answer/simulated_answers.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert::python {
namespace {

py::tuple to_tuple(const Interval& interval) {
  return py::make_tuple(interval.estimate, interval.lower, interval.upper);
}

/// Estimates, lower ends, upper ends, as arrays.
py::tuple to_tuple(const std::vector<Interval>& intervals) {
  std::vector<double> estimates, lower, upper;
  for (const Interval& interval : intervals) {
    estimates.push_back(interval.estimate);
    lower.push_back(interval.lower);
    upper.push_back(interval.upper);
  }
  return py::make_tuple(from_vector(estimates), from_vector(lower), from_vector(upper));
}

py::tuple moments_of(const ResultView& view) {
  MomentAnswers answers;
  run_interruptibly([&](const CancelFlag&) { answers = certified_moments(CertifiedLaw(view.result())); });
  return py::make_tuple(to_tuple(answers.means), to_tuple(answers.deviations));
}

py::tuple covariances_of_law(const ResultView& view) {
  CovarianceAnswers answers;
  run_interruptibly([&](const CancelFlag&) { answers = certified_covariances(CertifiedLaw(view.result())); });
  return py::make_tuple(from_matrix(answers.estimate), from_matrix(answers.lower),
                        from_matrix(answers.upper));
}

py::tuple predictive_of(const ResultView& view, const py::dict& keywords) {
  const auto options = options_from("predictive", answer_option_table(), keywords);
  std::vector<PredictiveMoments> moments;
  run_interruptibly(
      [&](const CancelFlag&) { moments = predictive_moments(CertifiedLaw(view.result()), options); });
  std::vector<Interval> mean, epistemic, aleatoric, total;
  for (const PredictiveMoments& moment : moments) {
    mean.push_back(moment.mean);
    epistemic.push_back(moment.epistemic);
    aleatoric.push_back(moment.aleatoric);
    total.push_back(moment.total);
  }
  return py::make_tuple(to_tuple(mean), to_tuple(epistemic), to_tuple(aleatoric), to_tuple(total));
}

py::tuple credible_of(const ResultView& view, const py::dict& keywords) {
  const auto options = options_from("interval", answer_option_table(), keywords);
  std::vector<double> lower, upper, mass;
  run_interruptibly([&](const CancelFlag& cancel) {
    const CertifiedLaw law(view.result());
    const Index targets = target_count(law.dimension(), options);
    for (Index target = 0; target < targets; ++target) {
      if (cancel.load()) throw Interrupted("interrupted");
      const CertifiedLine line = coordinate(law, target);
      const CredibleInterval interval =
          credible_interval(options.noise_std ? line.with_noise(*options.noise_std) : line, options.level);
      lower.push_back(interval.lower);
      upper.push_back(interval.upper);
      mass.push_back(interval.mixture_mass);
    }
  });
  return py::make_tuple(from_vector(lower), from_vector(upper), from_vector(mass));
}

py::tuple classes_of(const ResultView& view, const py::dict& keywords) {
  const auto options = options_from("predict_proba", answer_option_table(), keywords);
  require(!view.run->options.joint && view.result().mixture.dimension() > 1,
          "predict_proba: expected two outputs or more at a single input");
  ClassAnswer answers;
  run_interruptibly([&](const CancelFlag&) {
    answers = class_answer(CertifiedLaw(view.result()), options.integration(),
                           static_cast<std::uint64_t>(view.result().input));
  });
  return py::make_tuple(to_tuple(answers.probabilities), answers.predicted, answers.settled,
                        to_tuple(answers.margins));
}

py::tuple probability_of(const ResultView& view, const std::string& text, const py::dict& keywords) {
  const auto options = options_from("probability", answer_option_table(), keywords);
  const Statement statement = parse_statement(text, {view.run->outputs(), view.run->inputs_per_result()});
  ProbabilityAnswer answer;
  run_interruptibly([&](const CancelFlag&) {
    answer = probability(CertifiedLaw(view.result()), statement, options.integration());
  });
  return py::make_tuple(to_tuple(answer.interval), answer.failure_probability);
}

/// From draws of the network that the result is of (U.21).
py::dict answers_by_simulation(const ResultView& view, const std::vector<std::string>& statements,
                               bool classes, const py::dict& keywords) {
  const auto options = options_from("by_simulation", answer_option_table(), keywords);
  const Run& run = *view.run;
  const Ensemble& ensemble = run.require_model("by_simulation").ensemble;
  require(
      run.options.predictive == Predictive::Network,
      "by_simulation: the result is the law of the linearised network (glm), and draws are of the network "
      "itself");
  require(std::isnan(view.result().input_change),
          "by_simulation: the result holds in a ball or cell of inputs, and draws are of the network at one");
  require(!classes || (!run.options.joint && ensemble.outputs() > 1),
          "by_simulation: classes need two outputs or more at a single input");
  Questions questions;
  questions.classes = classes;
  for (const std::string& text : statements)
    questions.statements.push_back(parse_statement(text, {ensemble.outputs(), run.inputs_per_result()}));
  SimulatedAnswers answers;
  run_interruptibly([&](const CancelFlag& cancel) {
    const Index input = view.result().input;
    const SimulationOptions simulation{options.samples, options.seed, options.threads, &cancel};
    const Matrix draws = run.options.joint ? simulate_joint(ensemble, run.inputs, simulation)
                                           : simulate(ensemble, run.inputs.col(input), input, simulation);
    answers = simulated_answers(draws, questions, options, static_cast<std::uint64_t>(input));
  });
  py::dict all;
  all["draws"] = answers.draws;
  all["failure_probability"] = answers.failure_probability;
  py::list probabilities;
  for (const Interval& interval : answers.probabilities) probabilities.append(to_tuple(interval));
  all["probabilities"] = probabilities;
  std::vector<double> lower, upper, share;
  for (const SimulatedInterval& interval : answers.credible) {
    lower.push_back(interval.lower);
    upper.push_back(interval.upper);
    share.push_back(interval.share);
  }
  all["intervals"] = py::make_tuple(from_vector(lower), from_vector(upper), from_vector(share));
  if (answers.classes) {
    all["classes"] = py::make_tuple(to_tuple(answers.classes->probabilities), answers.classes->predicted,
                                    answers.classes->settled, to_tuple(answers.classes->margins));
  }
  return all;
}

}  // namespace

void bind_answers(py::class_<ResultView>& view) {
  view.def("moments", &moments_of)
      .def("covariances", &covariances_of_law)
      .def("predictive", &predictive_of)
      .def("credible", &credible_of)
      .def("classes", &classes_of)
      .def("probability", &probability_of)
      .def("by_simulation", &answers_by_simulation);
}

}  // namespace mixcert::python
