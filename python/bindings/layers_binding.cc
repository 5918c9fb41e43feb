// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers from arrays, under the names of docs/model-format.md. Shapes, signs and semidefiniteness are checked
// by DenseLayer and by layer_shape, as for files.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "mixcert/core/error.h"

namespace mixcert::python {
namespace {

/// The arrays of one layer, by name; what is None is not there.
class Tensors {
 public:
  Tensors(std::string layer, const py::dict& given) : layer_(std::move(layer)), given_(given) {}

  [[nodiscard]] bool has(const char* name) const {
    return given_.contains(name) && !py::object(given_[name]).is_none();
  }
  [[nodiscard]] bool is_set(const char* name) const { return has(name) && py::bool_(given_[name]); }
  [[nodiscard]] Matrix matrix(const char* name) const { return to_matrix(given_[name], label(name)); }
  [[nodiscard]] Vector vector(const char* name) const { return to_vector(given_[name], label(name)); }
  /// Empty where it is not there.
  [[nodiscard]] Vector flat(const char* name) const {
    return has(name) ? to_flat(given_[name], label(name)) : Vector();
  }
  [[nodiscard]] std::string label(const char* name) const { return layer_ + " " + name; }

 private:
  std::string layer_;
  const py::dict& given_;
};

EntryLaw entry_law(const std::string& name, double degrees) {
  if (name == "normal") return {};
  if (name == "laplace") return EntryLaw(EntryLaw::Family::Laplace);
  if (name == "uniform") return EntryLaw(EntryLaw::Family::Uniform);
  if (name == "student_t") return EntryLaw(EntryLaw::Family::StudentT, degrees);
  throw InvalidArgument("law: expected normal|laplace|uniform|student_t, got '" + name + "'");
}

/// Columns of [out * in, rank], each as a matrix [out, in] filled row by row.
std::vector<Matrix> factor_columns(const Matrix& factor, Index rows, Index columns,
                                   const std::string& label) {
  require(factor.rows() == rows * columns, label + ": expected " + std::to_string(rows * columns) +
                                               " rows, one per weight, got " + std::to_string(factor.rows()));
  std::vector<Matrix> result;
  for (Index s = 0; s < factor.cols(); ++s) {
    const Vector column = factor.col(s);
    result.emplace_back(Eigen::Map<const Matrix>(column.data(), columns, rows).transpose());
  }
  return result;
}

/// Exactly one of the sets of arrays that docs/model-format.md lists.
WeightCovariance weight_law(const Tensors& tensors, const Matrix& mean, const EntryLaw& law) {
  const bool kronecker = tensors.has("row_covariance") || tensors.has("column_covariance");
  const bool eigenbasis = tensors.has("row_basis") || tensors.has("column_basis");
  const bool factor = tensors.has("factor");
  const bool full = tensors.has("weight_covariance");
  const bool joint = tensors.has("covariance");
  const bool variance = tensors.has("weight_variance");
  const std::array<bool, 5> laws = {kronecker, eigenbasis, factor, full, joint};
  require(std::count(laws.begin(), laws.end(), true) <= 1 && !(variance && (kronecker || full || joint)),
          tensors.label("weights") + ": expected arrays of one law, got those of several");
  require(factor || !(tensors.has("bias_factor") || tensors.is_set("common_factor")),
          tensors.label("factor") + ": expected one beside bias_factor and common_factor, got none");
  if (kronecker)
    return KroneckerWeights{tensors.matrix("row_covariance"), tensors.matrix("column_covariance")};
  if (eigenbasis) {
    return KroneckerEigenbasisWeights{tensors.matrix("row_basis"), tensors.matrix("column_basis"),
                                      tensors.matrix("weight_variance")};
  }
  if (full) return FullWeights{tensors.matrix("weight_covariance")};
  if (joint) return JointWeights{tensors.matrix("covariance")};
  const Matrix variances =
      variance ? tensors.matrix("weight_variance") : Matrix::Zero(mean.rows(), mean.cols());
  if (factor) {
    LowRankWeights low_rank{variances, factor_columns(tensors.matrix("factor"), mean.rows(), mean.cols(),
                                                      tensors.label("factor"))};
    if (tensors.has("bias_factor")) low_rank.bias_factor = tensors.matrix("bias_factor");
    low_rank.is_common = tensors.is_set("common_factor");
    return low_rank;
  }
  if (variance) return MeanFieldWeights{variances, law};
  return DeterministicWeights{};
}

BiasCovariance bias_law(const Tensors& tensors, const EntryLaw& law) {
  require(!(tensors.has("bias_variance") && tensors.has("bias_covariance")),
          tensors.label("bias") + ": expected bias_variance or bias_covariance, got both");
  if (tensors.has("bias_covariance")) return CorrelatedBias{tensors.matrix("bias_covariance")};
  if (tensors.has("bias_variance")) return IndependentBias{tensors.vector("bias_variance"), law};
  return DeterministicBias{};
}

LayerSpec make_dense(const std::string& name, const py::dict& arrays, const std::string& law,
                     double degrees) {
  const Tensors tensors(name.empty() ? "dense" : name, arrays);
  const EntryLaw entries = entry_law(law, degrees);
  Matrix mean = tensors.matrix("weight");
  Vector bias = tensors.has("bias") ? tensors.vector("bias") : Vector::Zero(mean.rows());
  WeightCovariance weights = weight_law(tensors, mean, entries);
  return DenseSpec{
      DenseLayer(name, std::move(mean), std::move(bias), std::move(weights), bias_law(tensors, entries))};
}

using Pair = std::array<Index, 2>;
Size2d size_of(const Pair& pair) { return {pair[0], pair[1]}; }

LayerSpec make_convolution(const std::string& name, const py::dict& arrays, const Pair& image,
                           const Pair& stride, const Pair& padding, const Pair& dilation, Index groups) {
  const Tensors tensors(name.empty() ? "conv2d" : name, arrays);
  const Numbers kernel = to_numbers(arrays["weight"], tensors.label("weight"));
  require(kernel.ndim() == 4, tensors.label("weight") +
                                  ": expected shape (out, in / groups, height, width), got " +
                                  shape_text(kernel));
  Conv2dSpec spec;
  spec.name = name;
  spec.groups = groups;
  spec.out = kernel.shape(0);
  spec.in = kernel.shape(1) * groups;
  spec.image = size_of(image);
  spec.window = {{kernel.shape(2), kernel.shape(3)}, size_of(stride), size_of(padding), size_of(dilation)};
  spec.kernel_mean = tensors.flat("weight");
  spec.kernel_variance = tensors.flat("weight_variance");
  spec.bias_mean = tensors.flat("bias");
  spec.bias_variance = tensors.flat("bias_variance");
  return spec;
}

LayerSpec make_batch_norm(const std::string& name, const py::dict& arrays, double epsilon) {
  const Tensors tensors(name.empty() ? "batch_norm" : name, arrays);
  return BatchNormSpec{name,
                       tensors.vector("weight"),
                       tensors.vector("bias"),
                       tensors.vector("running_mean"),
                       tensors.vector("running_variance"),
                       epsilon};
}

LayerSpec make_affine(const std::string& name, const py::dict& arrays) {
  const Tensors tensors(name.empty() ? "affine" : name, arrays);
  return AffineSpec{name, tensors.flat("scale"), tensors.flat("shift")};
}

/// (n,) or (channels, height, width).
LayerSpec make_reshape(const std::vector<Index>& shape) {
  require(shape.size() == 1 || shape.size() == 3,
          "reshape: shape: expected (n,) or (channels, height, width), got " + std::to_string(shape.size()) +
              " numbers");
  if (shape.size() == 1) return ReshapeSpec{{shape[0], {}, false}};
  return ReshapeSpec{{shape[0], {shape[1], shape[2]}, true}};
}

Window2d pool_window(const Pair& kernel, const Pair& stride, const Pair& padding) {
  return {size_of(kernel), size_of(stride), size_of(padding), {1, 1}};
}

LayerSpec make_mixture(std::vector<double> weights, const std::vector<LayerSpec>& layers) {
  MixtureSpec spec{std::move(weights), {}};
  for (const LayerSpec& layer : layers) {
    const auto* dense = std::get_if<DenseSpec>(&layer.variant());
    require(dense != nullptr, "mixture: expected dense layers, got " + title(layer));
    spec.alternatives.push_back(*dense);
  }
  return spec;
}

/// `given` names parameters of the function; others are refused.
[[noreturn]] void refuse_parameter(const std::string& activation, const std::string& key) {
  throw InvalidArgument(activation + ": expected no parameter '" + key + "'");
}

LayerSpec make_activation(const std::string& name, const std::map<std::string, double>& given) {
  const ActivationFunction function = parse_activation_function(name);
  ActivationParameters parameters;
  const std::vector<ActivationParameter>& own = parameters_of(function);
  for (const auto& entry : given) {
    const std::string& key = entry.first;
    const auto found =
        std::find_if(own.begin(), own.end(), [&](const ActivationParameter& p) { return p.name == key; });
    if (found == own.end()) refuse_parameter(name, key);
    parameters.*(found->member) = entry.second;
  }
  return ActivationSpec{Activation(function, parameters)};
}

}  // namespace

void bind_layers(py::module_& module) {
  py::class_<LayerSpec>(module, "Layer", "One layer of a network.")
      .def_property_readonly("type", [](const LayerSpec& spec) { return std::string(type_name(spec)); })
      .def_property_readonly("name", &node_name)
      .def_property_readonly("inputs", [](const LayerSpec& spec) { return spec.inputs; })
      .def_property_readonly("arrays", &layer_arrays)
      .def("__repr__", [](const LayerSpec& spec) { return "<mixcert layer: " + title(spec) + ">"; });
  module.def("dense", &make_dense);
  module.def("conv2d", &make_convolution);
  module.def("batch_norm", &make_batch_norm);
  module.def("activation", &make_activation);
  module.def("avg_pool2d", [](const Pair& kernel, const Pair& stride, const Pair& padding) -> LayerSpec {
    return AvgPool2dSpec{pool_window(kernel, stride, padding)};
  });
  module.def("max_pool2d", [](const Pair& kernel, const Pair& stride, const Pair& padding) -> LayerSpec {
    return MaxPool2dSpec{pool_window(kernel, stride, padding)};
  });
  module.def("flatten", []() -> LayerSpec { return FlattenSpec{}; });
  module.def("dropout", [](double rate) -> LayerSpec { return DropoutSpec{rate}; });
  module.def("dropout2d", [](double rate) -> LayerSpec { return Dropout2dSpec{rate}; });
  module.def("gaussian_dropout", [](double rate) -> LayerSpec { return GaussianDropoutSpec{rate}; });
  module.def("gaussian_noise", [](double deviation) -> LayerSpec { return GaussianNoiseSpec{deviation}; });
  module.def("residual", [](std::vector<LayerSpec> layers, std::vector<LayerSpec> skip) -> LayerSpec {
    return ResidualSpec{std::move(layers), SkipLayers(std::move(skip))};
  });
  module.def("mixture_of_layers", &make_mixture);
  module.def("add", []() -> LayerSpec { return AddSpec{}; });
  module.def("concat", []() -> LayerSpec { return ConcatSpec{}; });
  module.def("affine", &make_affine);
  module.def("reshape", &make_reshape);
  module.def("mean", []() -> LayerSpec { return MeanSpec{}; });
  module.def("seeing", &seeing);
}

}  // namespace mixcert::python
