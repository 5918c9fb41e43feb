// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certified answers of a result, docs/answers.md: an answer is (estimate, lower, upper). Options and random
// streams are those of `mixcert answer`, so that both say the same.
#include <pybind11/stl.h>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "keywords.h"
#include "mixcert/answer/answers.h"
#include "mixcert/answer/questions.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"

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
  const Statement statement =
      parse_statement(text, {view.run->model->ensemble.outputs(), view.run->inputs_per_result()});
  ProbabilityAnswer answer;
  run_interruptibly([&](const CancelFlag&) {
    answer = probability(CertifiedLaw(view.result()), statement, options.integration());
  });
  return py::make_tuple(to_tuple(answer.interval), answer.failure_probability);
}

}  // namespace

void bind_answers(py::class_<ResultView>& view) {
  view.def("moments", &moments_of)
      .def("covariances", &covariances_of_law)
      .def("predictive", &predictive_of)
      .def("credible", &credible_of)
      .def("classes", &classes_of)
      .def("probability", &probability_of);
}

}  // namespace mixcert::python
