// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors that describe layers of every type.
#include "io/files/file_error.h"
#include "io/models/layer_tensors.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

class TensorWriter {
 public:
  explicit TensorWriter(std::map<std::string, Array>& tensors) : tensors_(tensors) {}

  void add(const std::vector<LayerSpec>& layers) {
    for (const LayerSpec& spec : layers) std::visit(*this, spec.variant());
  }

  void operator()(const DenseSpec& spec) {
    std::map<std::string, Array> own;
    add_dense_tensors(spec.layer, own);
    for (auto& [name, array] : own) put(name, std::move(array));
  }
  void operator()(const Conv2dSpec& spec) {
    const Size2d& kernel = spec.window.kernel;
    const std::vector<Index> shape = {spec.out, spec.in / spec.groups, kernel.height, kernel.width};
    const auto optional = [&](const std::string& ending, const std::vector<Index>& size,
                              const Vector& values) {
      if (values.size() > 0) put(spec.name + ending, {size, {values.begin(), values.end()}});
    };
    optional(".weight.mean", shape, spec.kernel_mean);
    optional(".weight.variance", shape, spec.kernel_variance);
    const bool zero = spec.bias_mean.size() == 0 && spec.bias_variance.size() > 0;
    optional(".bias.mean", {spec.out}, zero ? Vector(Vector::Zero(spec.out)) : spec.bias_mean);
    optional(".bias.variance", {spec.out}, spec.bias_variance);
  }
  void operator()(const BatchNormSpec& spec) {
    put(spec.name + ".weight", vector_to_array(spec.weight));
    put(spec.name + ".bias", vector_to_array(spec.bias));
    put(spec.name + ".running_mean", vector_to_array(spec.running_mean));
    put(spec.name + ".running_variance", vector_to_array(spec.running_variance));
  }
  void operator()(const ResidualSpec& spec) { add(spec.layers); }
  void operator()(const MixtureSpec& spec) {
    for (const DenseSpec& layer : spec.alternatives) (*this)(layer);
  }
  void operator()(const auto& /*has no tensors*/) {}

 private:
  void put(const std::string& name, Array&& array) {
    require(tensors_.try_emplace(name, std::move(array)).second,
            "expected layer names that differ, got two layers that own " + in_quotes(name));
  }

  std::map<std::string, Array>& tensors_;
};

}  // namespace

void add_tensors(const std::vector<LayerSpec>& layers, std::map<std::string, Array>& tensors) {
  TensorWriter(tensors).add(layers);
}

}  // namespace mixcert::io
