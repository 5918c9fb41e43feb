// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The functions of mixcert::ActivationFunction and their derivatives in single precision. Relu and tanh,
// which the experiments use, are vectorised. A switch has no default: the compiler asks for every function.
#include "train/activation_values.h"

#include <cmath>
#include <numbers>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

float density(float x) {
  return static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2) * std::exp(-0.5F * x * x);
}
float cumulative(float x) { return 0.5F * std::erfc(-x * static_cast<float>(1.0 / std::numbers::sqrt2)); }
float logistic(float x) { return 1.0F / (1.0F + std::exp(-x)); }

float slope_at(ActivationFunction function, float slope, float x) {
  switch (function) {
    case ActivationFunction::Identity:
      return 1.0F;
    case ActivationFunction::Relu:
      return x > 0.0F ? 1.0F : 0.0F;
    case ActivationFunction::LeakyRelu:
      return x > 0.0F ? 1.0F : slope;
    case ActivationFunction::Tanh:
      return 1.0F - std::tanh(x) * std::tanh(x);
    case ActivationFunction::Sigmoid:
      return logistic(x) * (1.0F - logistic(x));
    case ActivationFunction::Erf:
      return static_cast<float>(2.0 * std::numbers::inv_sqrtpi) * std::exp(-x * x);
    case ActivationFunction::Gelu:
      return cumulative(x) + x * density(x);
    case ActivationFunction::Silu:
      return logistic(x) * (1.0F + x * (1.0F - logistic(x)));
    case ActivationFunction::Softplus:
      return logistic(x);
    case ActivationFunction::Elu:
      return x > 0.0F ? 1.0F : std::exp(x);
  }
  throw InvalidArgument("activation: expected a function of the enum");
}

}  // namespace

FloatRows activation_values(const Activation& activation, const FloatRows& x) {
  if (activation.function() == ActivationFunction::Relu) return x.cwiseMax(0.0F);
  if (activation.function() == ActivationFunction::Tanh) return x.array().tanh();
  return x.unaryExpr([&](float value) { return static_cast<float>(activation(value)); });
}

FloatRows activation_slopes(const Activation& activation, const FloatRows& x) {
  const ActivationFunction function = activation.function();
  if (function == ActivationFunction::Relu) return (x.array() > 0.0F).cast<float>();
  if (function == ActivationFunction::Tanh) return 1.0F - x.array().tanh().square();
  const auto slope = static_cast<float>(activation.slope());
  return x.unaryExpr([=](float value) { return slope_at(function, slope, value); });
}

double initial_variance(const Activation& activation) {
  switch (activation.function()) {
    case ActivationFunction::Relu:
    case ActivationFunction::LeakyRelu:
    case ActivationFunction::Gelu:
    case ActivationFunction::Silu:
      return 2.0;
    case ActivationFunction::Identity:
    case ActivationFunction::Tanh:
    case ActivationFunction::Sigmoid:
    case ActivationFunction::Erf:
    case ActivationFunction::Softplus:
    case ActivationFunction::Elu:
      return 1.0;
  }
  throw InvalidArgument("activation: expected a function of the enum");
}

}  // namespace mixcert::lab
