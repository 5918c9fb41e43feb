// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The arrays of a layer, under the names of the keywords that make it: Dense(**layer.arrays) is the layer.
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "arrays.h"
#include "bindings.h"
#include "network/layers/layer_kind.h"

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
    if (law.bias_factor.size() > 0) arrays["bias_factor"] = from_matrix(law.bias_factor);
    if (law.is_common) arrays["common_factor"] = true;
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

/// "weight_variance" of ".weight.variance", "weight" of ".weight.mean".
std::string keyword_of(std::string_view ending) {
  constexpr std::string_view mean = ".mean";
  if (ending.ends_with(mean)) ending.remove_suffix(mean.size());
  std::string keyword(ending.substr(1));
  std::replace(keyword.begin(), keyword.end(), '.', '_');
  return keyword;
}

}  // namespace

py::dict layer_arrays(const LayerSpec& spec) {
  const OwnTensors own = layer_kind(spec)->tensors();
  if (own.dense != nullptr) return dense_arrays(*own.dense);
  py::dict arrays;
  for (const LayerTensor& tensor : own.plain) {
    if (tensor.values->size() == 0) continue;
    const py::array_t<double> flat = from_vector(*tensor.values);
    arrays[keyword_of(tensor.ending).c_str()] =
        tensor.shape.size() == 1 ? py::object(flat) : flat.attr("reshape")(tensor.shape);
  }
  return arrays;
}

}  // namespace mixcert::python
