// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// certify() for Python: options from keywords, work off the interpreter's lock, and what a result says.
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "keywords.h"
#include "mixcert/certify/certify.h"
#include "mixcert/certify/certify_box.h"
#include "mixcert/certify/result_text.h"
#include "mixcert/certify/work_estimate.h"
#include "mixcert/core/error.h"
#include "mixcert/simulated/simulation_service.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"

namespace mixcert::python {
namespace {

Services services_of(const CancelFlag& cancel) {
  Services services;
  services.cancel = &cancel;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  services.statistics = statistics_service(&cancel);
  services.simulation = simulation_service(&cancel);
  services.coupled = coupled_service(&cancel);
  services.stein = stein_service(&cancel);
  services.ensemble_statistics = ensemble_statistics_service(&cancel);
  return services;
}

void certify_run(Run& run, const CancelFlag& cancel, std::atomic<Index>& done) {
  const auto start = std::chrono::steady_clock::now();
  certify(
      run.model->ensemble, run.inputs, run.options,
      [&](Result&& result) {
        run.results.push_back(std::move(result));
        done.fetch_add(1, std::memory_order_relaxed);
      },
      services_of(cancel));
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

py::dict to_dict(const WorkEstimate& estimate, const Options& options, Index input_count) {
  py::dict values;
  values["method"] = estimate.method;
  values["multiplications"] = estimate.multiplications;
  values["gib"] = estimate.bytes / 0x1.0p30;
  values["seconds"] = estimate.seconds;
  values["is_long"] = estimate.is_long(options);
  values["announcement"] = with_keywords(work_announcement(estimate, options, input_count));
  return values;
}

py::dict estimate_model(const Model& model, const py::object& given, const py::dict& keywords) {
  const Options options = options_from("estimate_work", option_table(), keywords);
  const Index count = to_inputs(given, model.ensemble.inputs()).columns.cols();
  return to_dict(estimate_work(model.ensemble, options, count), options, count);
}

/// The results, and whether there is one without an axis of inputs. `progress`, unless None, is called with
/// the number of results so far; `announce`, before the work, with the number of inputs and what the work is
/// expected to take where that is long (None where not).
py::tuple certify_model(std::shared_ptr<Model> model, const py::object& given, const py::dict& keywords,
                        const py::object& progress, const py::object& announce) {
  const auto run = std::make_shared<Run>();
  run->options = options_from("certify", option_table(), keywords);
  Inputs inputs = to_inputs(given, model->ensemble.inputs());
  run->inputs = std::move(inputs.columns);
  run->model = std::move(model);
  const Index count = run->inputs.cols();
  const WorkEstimate estimate = estimate_work(run->model->ensemble, run->options, count);
  announce(run->options.joint ? Index{1} : count,
           estimate.is_long(run->options) ? py::object(to_dict(estimate, run->options, count)) : py::none());
  std::atomic<Index> done{0};
  std::function<void()> tick;
  if (!progress.is_none()) tick = [&] { progress(done.load(std::memory_order_relaxed)); };
  run_interruptibly([&](const CancelFlag& cancel) { certify_run(*run, cancel, done); }, tick);
  py::list results;
  for (std::size_t i = 0; i < run->results.size(); ++i) results.append(ResultView{run, i});
  return py::make_tuple(results, inputs.single || run->options.joint);
}

void cover_run(Run& run, const InputBox& box, const CancelFlag& cancel, std::atomic<Index>& cells) {
  const auto start = std::chrono::steady_clock::now();
  InputCover cover = certify_box(run.model->ensemble, box, run.options, services_of(cancel),
                                 [&](Index count) { cells.store(count, std::memory_order_relaxed); });
  run.inputs = std::move(cover.centres);
  run.results = std::move(cover.results);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A result for each cell. `progress`, unless None, is called with the number of cells so far.
py::list certify_box_model(std::shared_ptr<Model> model, const py::object& lower, const py::object& upper,
                           const py::dict& keywords, const py::object& progress) {
  const auto run = std::make_shared<Run>();
  run->options = options_from("certify_box", option_table(), keywords);
  run->model = std::move(model);
  const InputBox box{to_vector(lower, "lower"), to_vector(upper, "upper")};
  std::atomic<Index> cells{0};
  std::function<void()> tick;
  if (!progress.is_none()) tick = [&] { progress(cells.load(std::memory_order_relaxed)); };
  run_interruptibly([&](const CancelFlag& cancel) { cover_run(*run, box, cancel, cells); }, tick);
  py::list results;
  for (std::size_t i = 0; i < run->results.size(); ++i) results.append(ResultView{run, i});
  return results;
}

py::object cell_of(const ResultView& view) {
  const auto& cell = view.result().cell;
  if (!cell) return py::none();
  return py::make_tuple(from_vector(cell->lower), from_vector(cell->upper));
}

py::list layer_rows(const ResultView& view) {
  py::list rows;
  for (const LayerReport& layer : view.result().layers) {
    rows.append(py::make_tuple(layer.layer, layer.compression, layer.local, layer.gain, layer.components,
                               layer.points, layer.metric, layer.theorem));
  }
  return rows;
}

py::object statistics_of(const ResultView& view) {
  const auto& statistics = view.result().statistics;
  if (!statistics) return py::none();
  py::dict values;
  values["samples"] = statistics->samples;
  values["w2_lower_statistical"] = statistics->w2_lower_statistical;
  values["lower_confidence"] = statistics->lower_confidence;
  values["w2_upper_statistical"] = statistics->w2_upper_statistical;
  values["coupled_cost"] = statistics->coupled_cost;
  values["failure_probability"] = statistics->failure_probability;
  values["assumption"] = statistics->assumption;
  values["w2_stein_estimate"] = statistics->w2_stein;
  values["w2_stein_error"] = statistics->stein_error;
  return values;
}

py::object simulated_of(const ResultView& view) {
  const auto& simulated = view.result().simulated;
  if (!simulated) return py::none();
  py::dict values;
  values["w2_bound"] = simulated->w2;
  values["failure_probability"] = simulated->failure_probability;
  values["draws"] = simulated->draws;
  values["coupled_cost"] = simulated->coupled_cost;
  values["theorem"] = simulated->theorem;
  values["gap"] = simulated->gap;
  return values;
}

/// Of each output a mixture and its bound.
py::list marginals_of(const ResultView& view) {
  py::list rows;
  if (const auto& simulated = view.result().simulated) {
    for (const SimulatedMarginal& own : simulated->marginals)
      rows.append(py::make_tuple(own.mixture, own.w2, own.mean_lower, own.mean_upper));
  }
  return rows;
}

py::array inputs_of(const ResultView& view) {
  const Run& run = *view.run;
  require(run.inputs.size() > 0, run.file + ": inputs: the file has none");
  if (run.options.joint) return rows_from_columns(run.inputs);
  return from_vector(Vector(run.inputs.col(static_cast<Index>(view.place))));
}

py::dict options_of(const ResultView& view) {
  py::dict values;
  for (const auto& field : option_table()) {
    values[py::str(keyword_name(field.name))] = field.get(view.run->options);
  }
  return values;
}

}  // namespace

const Model& Run::require_model(const std::string& purpose) const {
  require(model != nullptr, purpose + ": needs the network, and these results were read from '" + file +
                                "'; certify the network again");
  return *model;
}

Index Run::outputs() const {
  if (model != nullptr) return model->ensemble.outputs();
  // Files of earlier versions do not say how many there are.
  return stored.outputs > 0 ? stored.outputs : results.front().mixture.dimension();
}

Index Run::inputs_per_result() const {
  return options.joint ? results.front().mixture.dimension() / outputs() : 1;
}

std::vector<std::string> Run::assumptions() const {
  if (model == nullptr) return stored.assumptions;
  std::vector<std::string> all = certificate_assumptions(options);
  all.insert(all.end(), model->assumptions.begin(), model->assumptions.end());
  return all;
}

py::class_<ResultView> bind_result(py::module_& module) {
  using View = const ResultView&;
  py::class_<ResultView> view(module, "ResultView", "One result of a call of certify().");
  view.def_property_readonly("input", [](View v) { return v.result().input; })
      .def_property_readonly("inputs", &inputs_of)
      .def_property_readonly("method", [](View v) { return std::string(to_string(v.result().method)); })
      .def_property_readonly("certificate",
                             [](View v) { return std::string(to_string(v.result().certificate)); })
      .def_property_readonly(
          "mixture",
          [](View v) { return std::shared_ptr<GaussianMixture>(v.run, &v.run->results[v.place].mixture); })
      .def_property_readonly("w2_bound", [](View v) { return v.result().w2.value; })
      .def_property_readonly("w1_bound", [](View v) { return v.result().w1.value; })
      .def_property_readonly("relative_w2_bound", [](View v) { return v.result().relative_w2; })
      .def_property_readonly("w2_lower", [](View v) { return v.result().w2_lower; })
      .def_property_readonly("w2_lower_mixture", [](View v) { return v.result().w2_lower_mixture; })
      .def_property_readonly("input_change", [](View v) { return v.result().input_change; })
      .def_property_readonly("cell", &cell_of)
      .def_property_readonly("termination",
                             [](View v) { return std::string(to_string(v.result().termination)); })
      .def_property_readonly("reason", [](View v) { return v.result().reason; })
      .def_property_readonly("seconds", [](View v) { return v.result().seconds; })
      .def_property_readonly("run_seconds", [](View v) { return v.run->seconds; })
      .def_property_readonly("layers", &layer_rows)
      .def_property_readonly("simulated", &simulated_of)
      .def_property_readonly("marginals", &marginals_of)
      .def_property_readonly("statistics", &statistics_of)
      .def_property_readonly("options", &options_of)
      .def_property_readonly("assumptions", [](View v) { return v.run->assumptions(); })
      .def("brief_report", [](View v) { return brief_report(v.result()); })
      .def("full_report", [](View v) {
        return full_report(v.result(), v.run->model ? v.run->model->assumptions : std::vector<std::string>());
      });
  return view;
}

void bind_certify(py::module_& module) {
  module.def("certify", &certify_model);
  module.def("certify_box", &certify_box_model);
  module.def("estimate_work", &estimate_model);
}

}  // namespace mixcert::python
