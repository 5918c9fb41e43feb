// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Priors from a number or from a model file.
#include "train/prior.h"

#include <string>
#include <variant>

#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"

namespace mixcert::lab {
namespace {

class FileReader {
 public:
  FileReader(const DenseNet& net, std::string path) : net_(net), path_(std::move(path)) {
    prior_.mean.resize(net.parameter_count());
    prior_.precision.resize(net.parameter_count());
  }

  void read_layer(const DenseLayer& layer, Index k) {
    const auto* weights = std::get_if<MeanFieldWeights>(&layer.weights());
    const auto* bias = std::get_if<IndependentBias>(&layer.bias());
    if (weights == nullptr || bias == nullptr) {
      fail("layer '" + layer.name() + "': expected variances of weights and bias, got " +
           std::string(family_name(layer.weights())) + " weights and " +
           std::string(family_name(layer.bias())) + " bias");
    }
    if (!(weights->variance.minCoeff() > 0.0) || !(bias->variance.minCoeff() > 0.0)) {
      fail("layer '" + layer.name() + "': expected variances above 0");
    }
    if (layer.inputs() != net_.layer_inputs(k) || layer.outputs() != net_.layer_outputs(k)) {
      fail("layer '" + layer.name() + "': expected " + std::to_string(net_.layer_inputs(k)) + " inputs and " +
           std::to_string(net_.layer_outputs(k)) + " outputs, got " + std::to_string(layer.inputs()) +
           " and " + std::to_string(layer.outputs()));
    }
    append(layer.weight_mean(), weights->variance);
    append(layer.bias_mean(), bias->variance);
  }

  [[noreturn]] void fail(const std::string& what) const { throw FileError(path_ + ": prior: " + what); }
  [[nodiscard]] DiagonalPrior prior() const { return prior_; }

 private:
  void append(const Matrix& mean, const Matrix& variance) {
    Eigen::Map<FloatRows>(prior_.mean.data() + at_, mean.rows(), mean.cols()) = mean.cast<float>();
    Eigen::Map<FloatRows>(prior_.precision.data() + at_, mean.rows(), mean.cols()) =
        variance.cwiseInverse().cast<float>();
    at_ += mean.size();
  }

  const DenseNet& net_;
  std::string path_;
  DiagonalPrior prior_;
  Index at_ = 0;
};

}  // namespace

DiagonalPrior zero_mean_prior(const StackNet& net, double precision, PriorScaling scaling) {
  const Index count = net.parameter_count();
  DiagonalPrior prior{FloatVector::Zero(count), FloatVector::Constant(count, static_cast<float>(precision))};
  if (scaling == PriorScaling::None) return prior;
  const auto scale = [&prior](Index offset, Index outputs, Index inputs) {
    prior.precision.segment(offset, outputs * inputs) *= static_cast<float>(inputs);
  };
  if (net.conv) {
    for (const Convolution& shape : net.conv->convolutions()) scale(shape.offset, shape.out, shape.taps());
  }
  const float* const begin = prior.precision.data();
  for (Index k = 0; k < net.dense.layer_count(); ++k) {
    scale(net.dense.weight(begin + net.dense_offset(), k).data() - begin, net.dense.layer_outputs(k),
          net.dense.layer_inputs(k));
  }
  return prior;
}

DiagonalPrior prior_from_file(const DenseNet& net, const std::filesystem::path& path) {
  const Network network = load_network(path);
  FileReader reader(net, path.string());
  if (network.layer_count() != net.layer_count()) {
    reader.fail("expected " + std::to_string(net.layer_count()) + " layers, got " +
                std::to_string(network.layer_count()));
  }
  for (Index k = 0; k < net.layer_count(); ++k) reader.read_layer(network.layer(k), k);
  return reader.prior();
}

}  // namespace mixcert::lab
