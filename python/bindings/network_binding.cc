// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks from files and from layers, ensembles of them, and Monte Carlo samples of their outputs.
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "io/files/byte_source.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "network/layers/layer_kind.h"
#include "report/pages/page_parts.h"
#include "report/terminal/text_report.h"

namespace mixcert::python {
namespace {

using ModelPointer = std::shared_ptr<const Model>;

ModelPointer network_of_layers(std::vector<LayerSpec> layers) { return make_model(std::move(layers)); }

ModelPointer load_model_file(const std::string& path) {
  std::vector<LayerSpec> layers = load_layers(path);
  Ensemble ensemble = load_ensemble(path);
  return std::make_shared<const Model>(Model{std::move(layers),
                                             std::move(ensemble),
                                             {path},
                                             {{sha256_of_file(path), 1.0}},
                                             {},
                                             load_assumptions(path)});
}

void add_new(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  for (const std::string& line : more) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
}

ModelPointer ensemble_of(const std::vector<ModelPointer>& models, const py::object& given) {
  require(!models.empty(), "ensemble: expected at least one network, got none");
  const auto count = static_cast<Index>(models.size());
  const Vector weights = given.is_none() ? Vector::Constant(count, 1.0 / static_cast<double>(count))
                                         : to_vector(given, "weights");
  require(weights.size() == count, "weights: expected one per network, " + std::to_string(count) + ", got " +
                                       std::to_string(weights.size()));
  std::vector<Network> members;
  std::vector<double> shares;
  std::vector<std::string> assumptions;
  for (Index i = 0; i < count; ++i) {
    const Model& model = *models[static_cast<std::size_t>(i)];
    add_new(assumptions, model.assumptions);
    const Ensemble& ensemble = model.ensemble;
    for (Index k = 0; k < ensemble.size(); ++k) {
      members.push_back(ensemble.member(k));
      shares.push_back(weights[i] * ensemble.weights()[k]);
    }
  }
  const auto total = static_cast<Index>(shares.size());
  return std::make_shared<const Model>(
      Model{{},
            Ensemble(std::move(members), Eigen::Map<const Vector>(shares.data(), total)),
            {},
            {},
            {},
            std::move(assumptions)});
}

ModelPointer with_input_noise(const Model& model, double deviation) {
  require(!model.layers.empty(), "input_std: expected a single network, got an ensemble");
  const Index features = input_shape(model.layers).size();
  InputNoise noise;
  noise.components.push_back({1.0, {}, IndependentBias{Vector::Constant(features, deviation * deviation)}});
  return std::make_shared<const Model>(Model{model.layers, build_ensemble(model.layers, noise), model.files,
                                             model.records, noise, model.assumptions});
}

/// Several networks, noise on inputs, or a layer with random numbers; also where no layers are listed.
bool is_random(const Model& model) {
  return model.layers.empty() || model.ensemble.size() > 1 || !model.noise.components.empty() ||
         std::any_of(model.layers.begin(), model.layers.end(),
                     [](const LayerSpec& spec) { return !is_deterministic(spec); });
}

ModelPointer functional_of(const Model& model, const std::string& text) {
  std::vector<std::string> assumptions = model.assumptions;
  assumptions.push_back("the output is " + text + " of the network's outputs");
  return std::make_shared<const Model>(
      Model{{},
            combined_output(model.ensemble, parse_functional(text, model.ensemble.outputs())),
            model.files,
            model.records,
            model.noise,
            std::move(assumptions)});
}

/// [inputs, samples, outputs], or [samples, outputs] of one input.
py::array simulate_outputs(const Model& model, const py::object& given, Index samples, bool joint,
                           std::uint64_t seed, int threads) {
  const Inputs inputs = to_inputs(given, model.ensemble.inputs());
  const Index count = inputs.columns.cols();
  const Index outputs = model.ensemble.outputs();
  py::array_t<double> array({count, samples, outputs});
  const Index slab = samples * outputs;
  double* const values = array.mutable_data();
  run_interruptibly([&](const CancelFlag& cancel) {
    const SimulationOptions options{samples, seed, threads, &cancel};
    if (joint) {
      const Matrix all = simulate_joint(model.ensemble, inputs.columns, options);
      for (Index i = 0; i < count; ++i)
        Eigen::Map<Matrix>(values + i * slab, outputs, samples) = all.middleRows(i * outputs, outputs);
      return;
    }
    for (Index i = 0; i < count; ++i)
      Eigen::Map<Matrix>(values + i * slab, outputs, samples) =
          simulate(model.ensemble, inputs.columns.col(i), i, options);
  });
  if (inputs.single) return array.reshape({samples, outputs});
  return array;
}

}  // namespace

void save_model(const Model& model, const std::string& path) {
  require(!model.layers.empty(),
          "save: expected a single network with all its outputs, got an ensemble or a functional");
  std::map<std::string, std::string> metadata;
  if (!model.assumptions.empty()) metadata["assumptions"] = assumptions_text(model.assumptions);
  save_layers(path, model.layers, std::move(metadata));
}

ModelPointer make_model(std::vector<LayerSpec> layers, std::vector<std::string> assumptions) {
  require(!layers.empty(), "Network: expected at least one layer, got none");
  name_layers(layers, "");
  Ensemble ensemble = build_ensemble(layers);
  return std::make_shared<const Model>(
      Model{std::move(layers), std::move(ensemble), {}, {}, {}, std::move(assumptions)});
}

void bind_network(py::module_& module) {
  py::class_<Model, std::shared_ptr<Model>>(module, "Model", "A stochastic network.")
      .def_property_readonly("inputs", [](const Model& model) { return model.ensemble.inputs(); })
      .def_property_readonly("outputs", [](const Model& model) { return model.ensemble.outputs(); })
      .def_property_readonly("size", [](const Model& model) { return model.ensemble.size(); })
      .def_property_readonly("layers", [](const Model& model) { return model.layers; })
      .def_property_readonly("assumptions", [](const Model& model) { return model.assumptions; })
      .def_property_readonly("is_random", &is_random)
      .def_property_readonly("words",
                             [](const Model& model) { return page::architecture_words(model.ensemble); })
      .def("inspect",
           [](const Model& model) {
             return model.layers.empty() ? inspect_text(model.ensemble.member(0))
                                         : inspect_text(model.layers, model.ensemble);
           })
      .def("with_input_noise", &with_input_noise)
      .def("functional", &functional_of)
      .def("save", &save_model, py::call_guard<py::gil_scoped_release>())
      .def("simulate", &simulate_outputs);
  module.def("network", &network_of_layers, py::call_guard<py::gil_scoped_release>());
  module.def("load_network", &load_model_file, py::call_guard<py::gil_scoped_release>());
  module.def("ensemble", &ensemble_of);
}

}  // namespace mixcert::python
