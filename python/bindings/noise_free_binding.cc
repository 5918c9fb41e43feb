// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network with its noise taken out: every weight is its mean, or some standard deviations above it; dropout
// and noise pass values as they are. from_torch compares it with the module that it was read from.
#include <pybind11/stl.h>

#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "network/layers/layer_kind.h"

namespace mixcert::python {
namespace {

Vector moved_numbers(const Vector& mean, const Vector& variance, double steps) {
  if (variance.size() == 0) return mean;
  return (mean.size() == 0 ? Vector::Zero(variance.size()).eval() : mean) + steps * variance.cwiseSqrt();
}

std::vector<LayerSpec> moved(const std::vector<LayerSpec>& layers, double steps);

/// The layer with its random weights and biases `steps` standard deviations above their means.
LayerSpec moved(const LayerSpec& spec, double steps) {
  if (const auto* dense = std::get_if<DenseSpec>(&spec)) {
    const DenseLayer& own = dense->layer;
    const Matrix weights = own.weight_mean() + steps * own.weight_variances().cwiseSqrt();
    const Vector bias = moved_numbers(own.bias_mean(), own.bias_variances(), steps);
    return in_place_of(spec, DenseSpec{DenseLayer(own.name(), weights, bias, own.weights(), own.bias())});
  }
  if (const auto* conv = std::get_if<Conv2dSpec>(&spec)) {
    Conv2dSpec result = *conv;
    result.kernel_mean = moved_numbers(conv->kernel_mean, conv->kernel_variance, steps);
    result.bias_mean = moved_numbers(conv->bias_mean, conv->bias_variance, steps);
    return in_place_of(spec, std::move(result));
  }
  if (const auto* residual = std::get_if<ResidualSpec>(&spec)) {
    ResidualSpec result = *residual;
    result.layers = moved(residual->layers, steps);
    result.skip.layers = moved(residual->skip.layers, steps);
    return in_place_of(spec, std::move(result));
  }
  return spec;
}

std::vector<LayerSpec> moved(const std::vector<LayerSpec>& layers, double steps) {
  std::vector<LayerSpec> result;
  result.reserve(layers.size());
  for (const LayerSpec& spec : layers) result.push_back(moved(spec, steps));
  return result;
}

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
py::array noise_free_outputs(const Model& model, const py::object& given, double deviations) {
  require(!model.layers.empty(), "noise_free: expected a single network, got an ensemble");
  const Inputs inputs = to_inputs(given, model.ensemble.inputs());
  Matrix outputs;
  {
    const py::gil_scoped_release unlocked;
    outputs = values(build_network(without_noise(moved(model.layers, deviations))), inputs.columns);
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
  model.def("noise_free", &noise_free_outputs, py::arg("inputs"), py::arg("deviations") = 0.0)
      .def("with_assumptions", &with_assumptions);
}

}  // namespace mixcert::python
