// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The functions of mixcert::ActivationFunction and their derivatives in single precision. Relu and tanh,
// which the experiments use, are vectorised. A switch has no default: the compiler asks for every function.
#include "train/activation_values.h"

#include <algorithm>
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

/// T and T' of mish, x T(x).
float mish_slope(float x) {
  const float e = std::exp(std::min(x, 20.0F)), d = e * (e + 2.0F) + 2.0F;
  return 1.0F - 2.0F / d + x * 4.0F * e / d * ((e + 1.0F) / d);
}

float between(float x, float lower, float upper) { return lower < x && x < upper ? 1.0F : 0.0F; }

/// Slope of `height (e^(x/length) - 1)`, or `right` on the right.
float exponential_slope(float x, float height, float length, float right) {
  return x > 0.0F ? right : height / length * std::exp(x / length);
}

float slope_at(ActivationFunction function, const ActivationParameters& with, float x) {
  const auto alpha = static_cast<float>(with.alpha);
  switch (function) {
    case ActivationFunction::Identity:
      return 1.0F;
    case ActivationFunction::Relu:
      return x > 0.0F ? 1.0F : 0.0F;
    case ActivationFunction::LeakyRelu:
      return x > 0.0F ? 1.0F : static_cast<float>(with.slope);
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
      return exponential_slope(x, alpha, 1.0F, 1.0F);
    case ActivationFunction::Relu6:
      return between(x, 0.0F, 6.0F);
    case ActivationFunction::Hardtanh:
      return between(x, static_cast<float>(with.lower), static_cast<float>(with.upper));
    case ActivationFunction::Hardsigmoid:
      return between(x, -3.0F, 3.0F) / 6.0F;
    case ActivationFunction::Hardswish:
      return x > 3.0F ? 1.0F : between(x, -3.0F, 3.0F) * (2.0F * x + 3.0F) / 6.0F;
    case ActivationFunction::Selu:
      return exponential_slope(x, 1.7580993F, 1.0F, 1.0507010F);
    case ActivationFunction::Celu:
      return exponential_slope(x, alpha, alpha, 1.0F);
    case ActivationFunction::Softsign:
      return 1.0F / ((1.0F + std::abs(x)) * (1.0F + std::abs(x)));
    case ActivationFunction::Mish:
      return mish_slope(x);
    case ActivationFunction::LogSigmoid:
      return logistic(-x);
    case ActivationFunction::Tanhshrink:
      return std::tanh(x) * std::tanh(x);
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
  return x.unaryExpr([&](float value) { return slope_at(function, activation.parameters(), value); });
}

double initial_variance(const Activation& activation) {
  switch (activation.function()) {
    case ActivationFunction::Relu:
    case ActivationFunction::LeakyRelu:
    case ActivationFunction::Gelu:
    case ActivationFunction::Silu:
    case ActivationFunction::Relu6:
    case ActivationFunction::Hardswish:
    case ActivationFunction::Mish:
      return 2.0;
    case ActivationFunction::Identity:
    case ActivationFunction::Tanh:
    case ActivationFunction::Sigmoid:
    case ActivationFunction::Erf:
    case ActivationFunction::Softplus:
    case ActivationFunction::Elu:
    case ActivationFunction::Hardtanh:
    case ActivationFunction::Hardsigmoid:
    case ActivationFunction::Selu:
    case ActivationFunction::Celu:
    case ActivationFunction::Softsign:
    case ActivationFunction::LogSigmoid:
    case ActivationFunction::Tanhshrink:
      return 1.0;
  }
  throw InvalidArgument("activation: expected a function of the enum");
}

}  // namespace mixcert::lab
