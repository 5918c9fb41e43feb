// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors that describe one dense layer.
#include "io/models/layer_tensors.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

class LayerWriter {
 public:
  LayerWriter(const DenseLayer& layer, std::map<std::string, Array>& tensors)
      : layer_(layer), tensors_(tensors) {}

  void operator()(const DeterministicWeights& /*law*/) const {}
  void operator()(const MeanFieldWeights& law) const { add(".weight.variance", law.variance); }
  void operator()(const KroneckerWeights& law) const {
    add(".weight.row_covariance", law.row_covariance);
    add(".weight.column_covariance", law.column_covariance);
  }
  void operator()(const KroneckerEigenbasisWeights& law) const {
    add(".weight.row_basis", law.row_basis);
    add(".weight.column_basis", law.column_basis);
    add(".weight.variance", law.variance);
  }
  void operator()(const LowRankWeights& law) const {
    add(".weight.variance", law.variance);
    const Index inputs = layer_.inputs();
    Matrix factor(layer_.outputs() * inputs, static_cast<Index>(law.factor.size()));
    for (Index s = 0; s < factor.cols(); ++s) {
      for (Index entry = 0; entry < factor.rows(); ++entry) {
        factor(entry, s) = law.factor[static_cast<std::size_t>(s)](entry / inputs, entry % inputs);
      }
    }
    add(".weight.factor", factor);
  }
  void operator()(const FullWeights& law) const { add(".weight.covariance", law.covariance); }
  void operator()(const JointWeights& law) const { add(".covariance", law.covariance); }

  void operator()(const SharedWeights& /*law*/) const {
    throw InvalidArgument("layer '" + layer_.name() +
                          "': a convolution is stored by save_layers, not as a matrix");
  }

  void operator()(const DeterministicBias& /*law*/) const {}
  void operator()(const IndependentBias& law) const {
    tensors_[layer_.name() + ".bias.variance"] = vector_to_array(law.variance);
  }
  void operator()(const CorrelatedBias& law) const { add(".bias.covariance", law.covariance); }

 private:
  void add(const char* name, const Matrix& matrix) const {
    tensors_[layer_.name() + name] = to_array(matrix);
  }

  const DenseLayer& layer_;
  std::map<std::string, Array>& tensors_;
};

}  // namespace

void add_dense_tensors(const DenseLayer& layer, std::map<std::string, Array>& tensors) {
  tensors[layer.name() + ".weight.mean"] = to_array(layer.weight_mean());
  tensors[layer.name() + ".bias.mean"] = vector_to_array(layer.bias_mean());
  const LayerWriter writer(layer, tensors);
  std::visit(writer, layer.weights());
  std::visit(writer, layer.bias());
}

}  // namespace mixcert::io
