// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Prior selection for Python: the target is a Gaussian process written as text, or a mixture.
#include <pybind11/stl.h>

#include <atomic>
#include <optional>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "keywords.h"
#include "mixcert/gp/kernel.h"
#include "mixcert/tune/tune.h"

namespace mixcert::python {
namespace {

/// Steps as columns of numbers: objective, bound, distance, target_scale.
py::dict history_of(const TuneRun& run) {
  std::vector<double> objective, bound, distance, scale;
  for (const TuneStep& step : run.history) {
    objective.push_back(step.objective);
    bound.push_back(step.bound);
    distance.push_back(step.distance);
    scale.push_back(step.target_scale);
  }
  py::dict history;
  history["objective"] = from_vector(objective);
  history["bound"] = from_vector(bound);
  history["distance"] = from_vector(distance);
  history["target_scale"] = from_vector(scale);
  return history;
}

/// The prior's layers, as the file of `mixcert tune` would list them.
std::vector<LayerSpec> layers_of_prior(const Network& network) {
  std::vector<LayerSpec> layers;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const Activation& activation = network.activation(k).common();
    if (activation.function() != ActivationFunction::Identity)
      layers.emplace_back(ActivationSpec{activation});
    layers.emplace_back(DenseSpec{network.layer(k)});
  }
  return layers;
}

/// `target` is the text of a kernel or a mixture.
py::tuple tune_prior(const py::object& given, const py::object& target, const std::string& mean,
                     const py::dict& keywords, const py::object& progress) {
  const TuneOptions options = options_from("tune", tune_option_table(), keywords);
  const std::vector<Index> widths = parse_architecture(options.arch);
  Matrix inputs = to_inputs(given, widths.front()).columns;
  const TuneProblem problem =
      py::isinstance<py::str>(target)
          ? process_problem({MeanFunction::parse(mean), Kernel::parse(std::string(py::str(target)))},
                            std::move(inputs), widths.back())
          : mixture_problem(target.cast<GaussianMixture>(), std::move(inputs), widths.back());
  std::optional<TuneRun> run;
  std::atomic<Index> done{0};
  std::function<void()> tick;
  if (!progress.is_none()) tick = [&] { progress(done.load(std::memory_order_relaxed)); };
  run_interruptibly(
      [&](const CancelFlag& cancel) {
        run = tune(problem, options, {[&](const TuneStep& step) { done.store(step.step); }, &cancel});
      },
      tick);
  auto model = std::make_shared<Model>(Model{layers_of_prior(run->network), Ensemble(run->network), {}, {}});
  return py::make_tuple(model, history_of(*run), run->held_out, run->seconds);
}

}  // namespace

void bind_tune(py::module_& module) {
  module.def("tune", &tune_prior);
  module.def("kernel_text", [](const std::string& text) { return Kernel::parse(text).text(); });
  module.def("kernel_covariance", [](const std::string& text, const py::object& inputs) {
    return from_matrix(Kernel::parse(text).covariance(to_matrix(inputs, "inputs").transpose()));
  });
}

}  // namespace mixcert::python
