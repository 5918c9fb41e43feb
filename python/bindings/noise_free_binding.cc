// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network with its noise taken out: every weight is its mean, dropout and noise pass values as they are.
// from_torch compares it with the module that it was read from.
#include <pybind11/stl.h>

#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "network/layers/layer_kind.h"

namespace mixcert::python {
namespace {

std::vector<LayerSpec> without_noise(const std::vector<LayerSpec>& layers) {
  std::vector<LayerSpec> result;
  result.reserve(layers.size());
  for (const LayerSpec& spec : layers) result.push_back(in_place_of(spec, layer_kind(spec)->without_noise()));
  return result;
}

/// One column per input.
Matrix values(const Network& network, const Matrix& inputs) {
  Matrix state = network.features(inputs).values;
  for (Index k = 0; k < network.layer_count(); ++k) {
    state = network.layer(k).weight_mean() * network.activation(k).apply(state);
    state.colwise() += network.layer(k).bias_mean();
  }
  return state;
}

/// [inputs, outputs].
py::array noise_free_outputs(const Model& model, const py::object& given) {
  require(!model.layers.empty(), "noise_free: expected a single network, got an ensemble");
  const Inputs inputs = to_inputs(given, model.ensemble.inputs());
  Matrix outputs;
  {
    const py::gil_scoped_release unlocked;
    outputs = values(build_network(without_noise(model.layers)), inputs.columns);
  }
  return rows_from_columns(outputs);
}

std::shared_ptr<const Model> with_assumptions(const Model& model, const std::vector<std::string>& lines) {
  Model result = model;
  result.assumptions.insert(result.assumptions.end(), lines.begin(), lines.end());
  return std::make_shared<const Model>(std::move(result));
}

}  // namespace

void bind_noise_free(py::module_& module) {
  auto model = py::class_<Model, std::shared_ptr<Model>>(module.attr("Model"));
  model.def("noise_free", &noise_free_outputs).def("with_assumptions", &with_assumptions);
}

}  // namespace mixcert::python
