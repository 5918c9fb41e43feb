// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The arrays of a layer, under the names of the keywords that make it: Dense(**layer.arrays) is the layer.
#include <pybind11/stl.h>

#include <array>

#include "arrays.h"
#include "bindings.h"

namespace mixcert::python {
namespace {

/// One overload per law of weights and biases.
struct LawArrays {
  py::dict& arrays;

  void operator()(const DeterministicWeights& /*law*/) const {}
  void operator()(const MeanFieldWeights& law) const {
    arrays["weight_variance"] = from_matrix(law.variance);
  }
  void operator()(const KroneckerWeights& law) const {
    arrays["row_covariance"] = from_matrix(law.row_covariance);
    arrays["column_covariance"] = from_matrix(law.column_covariance);
  }
  void operator()(const KroneckerEigenbasisWeights& law) const {
    arrays["row_basis"] = from_matrix(law.row_basis);
    arrays["column_basis"] = from_matrix(law.column_basis);
    arrays["weight_variance"] = from_matrix(law.variance);
  }
  void operator()(const LowRankWeights& law) const {
    arrays["weight_variance"] = from_matrix(law.variance);
    Matrix factor(law.variance.size(), static_cast<Index>(law.factor.size()));
    for (std::size_t s = 0; s < law.factor.size(); ++s)
      factor.col(static_cast<Index>(s)) = law.factor[s].transpose().reshaped();
    arrays["factor"] = from_matrix(factor);
  }
  void operator()(const FullWeights& law) const { arrays["weight_covariance"] = from_matrix(law.covariance); }
  void operator()(const JointWeights& law) const { arrays["covariance"] = from_matrix(law.covariance); }
  /// Not a law of layers as they are listed.
  void operator()(const SharedWeights& /*law*/) const {}
  void operator()(const DeterministicBias& /*law*/) const {}
  void operator()(const IndependentBias& law) const { arrays["bias_variance"] = from_vector(law.variance); }
  void operator()(const CorrelatedBias& law) const {
    arrays["bias_covariance"] = from_matrix(law.covariance);
  }
};

py::dict dense_arrays(const DenseLayer& layer) {
  py::dict arrays;
  arrays["weight"] = from_matrix(layer.weight_mean());
  arrays["bias"] = from_vector(layer.bias_mean());
  std::visit(LawArrays{arrays}, layer.weights());
  std::visit(LawArrays{arrays}, layer.bias());
  return arrays;
}

py::dict convolution_arrays(const Conv2dSpec& spec) {
  const Size2d& kernel = spec.window.kernel;
  const std::array<Index, 4> shape = {spec.out, spec.in / spec.groups, kernel.height, kernel.width};
  py::dict arrays;
  const auto add = [&](const char* name, const Vector& values, bool is_kernel) {
    if (values.size() == 0) return;
    const py::array_t<double> array = from_vector(values);
    arrays[name] = is_kernel ? array.attr("reshape")(shape) : py::object(array);
  };
  add("weight", spec.kernel_mean, true);
  add("weight_variance", spec.kernel_variance, true);
  add("bias", spec.bias_mean, false);
  add("bias_variance", spec.bias_variance, false);
  return arrays;
}

py::dict batch_norm_arrays(const BatchNormSpec& spec) {
  py::dict arrays;
  arrays["weight"] = from_vector(spec.weight);
  arrays["bias"] = from_vector(spec.bias);
  arrays["running_mean"] = from_vector(spec.running_mean);
  arrays["running_variance"] = from_vector(spec.running_variance);
  return arrays;
}

}  // namespace

py::dict layer_arrays(const LayerSpec& spec) {
  if (const auto* dense = std::get_if<DenseSpec>(&spec.variant())) return dense_arrays(dense->layer);
  if (const auto* convolution = std::get_if<Conv2dSpec>(&spec.variant()))
    return convolution_arrays(*convolution);
  if (const auto* norm = std::get_if<BatchNormSpec>(&spec.variant())) return batch_norm_arrays(*norm);
  return {};
}

}  // namespace mixcert::python
