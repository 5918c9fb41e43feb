// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dense layers, activations and batch norm in front of a network (L.1).
#include <cmath>
#include <utility>

#include "network/layers/feature_steps.h"

namespace mixcert {
namespace {

/// e' = |W| e + gamma_{n+1} (|W| |x| + |b|), one product.
class DenseStep : public FeatureStep {
 public:
  explicit DenseStep(const DenseLayer& layer)
      : weights_(layer.weight_mean()),
        magnitudes_(layer.weight_mean().cwiseAbs()),
        bias_(layer.bias_mean()) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const Index n = weights_.cols();
    const double gamma = rounding_gamma(n + 1);
    input.errors += gamma * input.values.cwiseAbs();
    const Vector bound = magnitudes_ * input.errors + gamma * bias_.cwiseAbs();
    return {weights_ * input.values + bias_, raised(bound, n + 4)};
  }

 private:
  Matrix weights_;
  Matrix magnitudes_;
  Vector bias_;
};

class ActivationStep : public FeatureStep {
 public:
  explicit ActivationStep(const Activation& activation) : activation_(activation) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const double lipschitz = activation_.lipschitz().upper;
    for (Index i = 0; i < input.values.size(); ++i) {
      input.errors(i) = lipschitz * input.errors(i) + activation_.value_error(std::abs(input.values(i)));
      input.values(i) = activation_(input.values(i));
    }
    input.errors = raised(input.errors, 2);
    return input;
  }

 private:
  Activation activation_;
};

/// y = s (x - m) + b, s = w / (v + epsilon)^(1/2) of three roundings: e' = |s| e + gamma_8 (|s| (|x| + |m|) +
/// |b|).
class BatchNormStep : public FeatureStep {
 public:
  BatchNormStep(const BatchNormSpec& spec, const LayerShape& shape)
      : scale_(spec.weight.array() / (spec.running_variance.array() + spec.epsilon).sqrt()),
        mean_(spec.running_mean),
        bias_(spec.bias),
        positions_(shape.positions()) {}

  [[nodiscard]] BoundedValues apply(BoundedValues input) const override {
    const double gamma = rounding_gamma(8);
    for (Index i = 0; i < input.values.size(); ++i) {
      const Index channel = i / positions_;
      const double scale = std::abs(scale_(channel));
      const double magnitude = std::abs(input.values(i)) + std::abs(mean_(channel)) + input.errors(i);
      input.errors(i) = scale * input.errors(i) + gamma * (scale * magnitude + std::abs(bias_(channel)));
      input.values(i) = scale_(channel) * (input.values(i) - mean_(channel)) + bias_(channel);
    }
    input.errors = raised(input.errors, 8);
    return input;
  }

 private:
  Vector scale_;
  Vector mean_;
  Vector bias_;
  Index positions_;
};

}  // namespace

std::unique_ptr<FeatureStep> dense_step(const DenseLayer& layer) {
  return std::make_unique<DenseStep>(layer);
}

std::unique_ptr<FeatureStep> activation_step(const Activation& activation) {
  return std::make_unique<ActivationStep>(activation);
}

std::unique_ptr<FeatureStep> batch_norm_step(const BatchNormSpec& spec, const LayerShape& shape) {
  return std::make_unique<BatchNormStep>(spec, shape);
}

}  // namespace mixcert
