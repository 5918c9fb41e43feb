// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checks of the numbers in layer specifications, and the shape of a network's input.
#include "network/layers/spec_checks.h"

#include <cmath>
#include <numeric>

#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"

namespace mixcert {
namespace {

class TensorCheck {
 public:
  explicit TensorCheck(std::string who) : who_(std::move(who)) {}

  void values(const Vector& tensor, double size, const std::string& field) const {
    require(static_cast<double>(tensor.size()) == size, who_ + ": " + field + ": expected " +
                                                            format_number(size) + " values, got " +
                                                            std::to_string(tensor.size()));
    require(tensor.allFinite(), who_ + ": " + field + ": expected finite values");
  }
  void variances(const Vector& tensor, double size, const std::string& field) const {
    values(tensor, size, field);
    require(tensor.size() == 0 || tensor.minCoeff() >= 0.0,
            who_ + ": " + field + ": expected variances, at least 0");
  }

 private:
  std::string who_;
};

void check_convolution(const Conv2dSpec& spec) {
  const TensorCheck check("conv2d '" + spec.name + "'");
  require(spec.groups >= 1 && spec.in >= 1 && spec.out >= 1,
          "conv2d '" + spec.name + "': expected channels and groups");
  // In doubles: sizes of a file may overflow integers, and then fit no tensor.
  const Index group_inputs = spec.in / spec.groups;
  const double entries = static_cast<double>(spec.out) * static_cast<double>(group_inputs) *
                         static_cast<double>(spec.window.kernel.height) *
                         static_cast<double>(spec.window.kernel.width);
  const auto channels = static_cast<double>(spec.out);
  check.values(spec.kernel_mean, entries, "weight.mean");
  if (spec.kernel_variance.size() > 0) check.variances(spec.kernel_variance, entries, "weight.variance");
  if (spec.bias_mean.size() > 0) check.values(spec.bias_mean, channels, "bias.mean");
  if (spec.bias_variance.size() > 0) check.variances(spec.bias_variance, channels, "bias.variance");
}

void check_batch_norm(const BatchNormSpec& spec) {
  const TensorCheck check("batch_norm '" + spec.name + "'");
  const auto features = static_cast<double>(spec.weight.size());
  require(spec.weight.size() > 0, "batch_norm '" + spec.name + "': expected at least one feature");
  check.values(spec.weight, features, "weight");
  check.values(spec.bias, features, "bias");
  check.values(spec.running_mean, features, "running_mean");
  check.variances(spec.running_variance, features, "running_variance");
  require(spec.epsilon >= 0.0 && std::isfinite(spec.epsilon),
          "batch_norm '" + spec.name + "': epsilon: expected a finite number, at least 0, got " +
              format_number(spec.epsilon));
  require(spec.running_variance.minCoeff() + spec.epsilon > 0.0,
          "batch_norm '" + spec.name +
              "': running_variance: expected a positive number after adding epsilon, got 0");
}

void check_mixture(const MixtureSpec& spec) {
  require(!spec.alternatives.empty() && spec.weights.size() == spec.alternatives.size(),
          "mixture: expected one weight per layer and at least one, got " +
              std::to_string(spec.weights.size()) + " weights and " +
              std::to_string(spec.alternatives.size()) + " layers");
  double sum = 0.0;
  for (const double weight : spec.weights) {
    require(weight > 0.0 && std::isfinite(weight),
            "mixture: weights: expected positive numbers, got " + format_number(weight));
    sum += weight;
  }
  require(std::abs(sum - 1.0) <= 1e-9, "mixture: weights: expected a sum of 1, got " + format_number(sum));
  const DenseLayer& first = spec.alternatives.front().layer;
  for (const DenseSpec& other : spec.alternatives) {
    require(other.layer.inputs() == first.inputs() && other.layer.outputs() == first.outputs(),
            "mixture: dense '" + other.layer.name() + "': expected " + std::to_string(first.inputs()) +
                " inputs and " + std::to_string(first.outputs()) + " outputs as '" + first.name() +
                "', got " + std::to_string(other.layer.inputs()) + " and " +
                std::to_string(other.layer.outputs()));
  }
}

/// Shape that the first sized layer wants; features of a batch norm where nothing else tells.
class InputShapeFinder {
 public:
  void visit(const std::vector<LayerSpec>& layers) {
    for (const LayerSpec& spec : layers) {
      if (found_) return;
      std::visit(*this, spec.variant());
    }
  }
  [[nodiscard]] MaybeShape shape() const { return found_ ? found_ : fallback_; }

  void operator()(const DenseSpec& dense) { found_ = LayerShape{dense.layer.inputs(), {}, false}; }
  void operator()(const Conv2dSpec& spec) {
    shape_after_convolution(spec, {});  // checks the sizes that are used here
    found_ = LayerShape{spec.in, spec.image, true};
  }
  void operator()(const AvgPool2dSpec& pool) { shape_after_pool("avg_pool2d", pool.window, {}); }
  void operator()(const MaxPool2dSpec& pool) { shape_after_pool("max_pool2d", pool.window, {}); }
  void operator()(const BatchNormSpec& norm) {
    if (!fallback_) fallback_ = LayerShape{norm.weight.size(), {}, false};
  }
  void operator()(const ResidualSpec& residual) { visit(residual.layers); }
  void operator()(const MixtureSpec& mixture) {
    if (!mixture.alternatives.empty()) (*this)(mixture.alternatives.front());
  }
  void operator()(const auto& /*keeps its shape*/) {}

 private:
  MaybeShape found_;
  MaybeShape fallback_;
};

}  // namespace

void check_numbers(const LayerSpec& spec) {
  std::visit(Overloaded{[](const Conv2dSpec& convolution) { check_convolution(convolution); },
                        [](const BatchNormSpec& norm) { check_batch_norm(norm); },
                        [](const DropoutSpec& dropout) { Mask::bernoulli(dropout.rate); },
                        [](const GaussianDropoutSpec& dropout) { Mask::gaussian(dropout.rate); },
                        [](const GaussianNoiseSpec& noise) {
                          require(noise.deviation >= 0.0 && std::isfinite(noise.deviation),
                                  "gaussian_noise: std: expected a finite number, at least 0, got " +
                                      format_number(noise.deviation));
                        },
                        [](const ResidualSpec& residual) {
                          require(!residual.layers.empty(),
                                  "residual: expected at least one layer, got none");
                        },
                        [](const MixtureSpec& mixture) { check_mixture(mixture); }, [](const auto&) {}},
             spec.variant());
}

LayerShape input_shape(const std::vector<LayerSpec>& layers) {
  InputShapeFinder finder;
  finder.visit(layers);
  require(finder.shape().has_value(), "network: expected a layer that tells the number of inputs, got none");
  return *finder.shape();
}

}  // namespace mixcert
