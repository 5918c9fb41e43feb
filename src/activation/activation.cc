// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values, slopes and Lipschitz constants of the activations: docs/theory/activations.md,
// (A.1) and (A.2).
#include "mixcert/activation/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/normal.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

constexpr std::array<std::pair<F, std::string_view>, 10> kNames = {{{F::Identity, "identity"},
                                                                    {F::Relu, "relu"},
                                                                    {F::LeakyRelu, "leaky_relu"},
                                                                    {F::Tanh, "tanh"},
                                                                    {F::Sigmoid, "sigmoid"},
                                                                    {F::Erf, "erf"},
                                                                    {F::Gelu, "gelu"},
                                                                    {F::Silu, "silu"},
                                                                    {F::Softplus, "softplus"},
                                                                    {F::Elu, "elu"}}};

// Beyond this every slope has reached its limit in double precision; it stands for infinity.
constexpr double kFlatBeyond = 45.0;
// Absolute error of a computed slope: a few roundings of numbers below 2.
constexpr double kSlopeError = 64 * kUnitRoundoff;

// Positive zero of silu'' = s(1-s)(2 + x(1-2s)), s the logistic function: x tanh(x/2) = 2.
constexpr double kSiluInflection = 2.399357280515468;

double logistic(double x) {
  const double e = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

/// Nonnegative zeros of f''; the functions listed have f'' zero at plus and minus these.
std::array<double, 2> inflections(F function) {
  switch (function) {
    case F::Tanh:
    case F::Sigmoid:
    case F::Erf:
      return {0.0, 0.0};
    case F::Gelu:
      return {-std::numbers::sqrt2, std::numbers::sqrt2};
    case F::Silu:
      return {-kSiluInflection, kSiluInflection};
    default:
      return {INFINITY, INFINITY};
  }
}

}  // namespace

const std::vector<ActivationFunction>& all_activation_functions() {
  static const std::vector<F> all = [] {
    std::vector<F> result;
    result.reserve(kNames.size());
    for (const auto& [function, name] : kNames) result.push_back(function);
    return result;
  }();
  return all;
}

std::string_view to_string(ActivationFunction function) {
  for (const auto& [value, name] : kNames) {
    if (value == function) return name;
  }
  return "?";
}

ActivationFunction parse_activation_function(std::string_view name) {
  std::string known;
  for (const auto& [value, text] : kNames) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw InvalidArgument("unknown activation '" + std::string(name) + "', expected one of " + known);
}

Activation::Activation(ActivationFunction function, double slope) : function_(function), slope_(slope) {
  require(std::isfinite(slope), "leaky_relu: slope must be finite");
}

double Activation::operator()(double x) const {
  switch (function_) {
    case F::Identity:
      return x;
    case F::Relu:
      return positive_part(x);
    case F::LeakyRelu:
      return x >= 0.0 ? x : slope_ * x;
    case F::Tanh:
      return std::tanh(x);
    case F::Sigmoid:
      return logistic(x);
    case F::Erf:
      return std::erf(x);
    case F::Gelu:
      return x * normal_cdf(x);
    case F::Silu:
      return x * logistic(x);
    case F::Softplus:
      return positive_part(x) + std::log1p(std::exp(-std::abs(x)));
    case F::Elu:
      return x >= 0.0 ? x : std::expm1(x);
  }
  return x;
}

Matrix Activation::apply(ConstMatrixRef x) const {
  switch (function_) {
    case F::Identity:
      return x;
    case F::Relu:
      return positive_part(x);
    default:
      return x.unaryExpr([this](double value) { return (*this)(value); });
  }
}

SlopeRange Activation::slope_range() const {
  switch (function_) {
    case F::Identity:
      return {1.0, 1.0};
    case F::LeakyRelu:
      return {std::min(slope_, 1.0), std::max(slope_, 1.0)};
    case F::Gelu:
    case F::Silu:
      // f'(x) + f'(-x) = 1.
      return {next_down(1.0 - lipschitz().upper), lipschitz().upper};
    default:
      return {0.0, lipschitz().upper};
  }
}

double Activation::derivative(double x) const {
  const double clipped = std::clamp(x, -kFlatBeyond, kFlatBeyond);
  const double s = logistic(clipped);
  switch (function_) {
    case F::Identity:
      return 1.0;
    case F::Relu:
      return x >= 0.0 ? 1.0 : 0.0;
    case F::LeakyRelu:
      return x >= 0.0 ? 1.0 : slope_;
    case F::Tanh: {
      const double c = std::cosh(clipped);
      return 1.0 / (c * c);
    }
    case F::Sigmoid:
      return s * logistic(-clipped);
    case F::Erf:
      return 2.0 * std::numbers::inv_sqrtpi * std::exp(-clipped * clipped);
    case F::Gelu:
      return normal_cdf(clipped) + clipped * normal_density(clipped);
    case F::Silu:
      return s * (1.0 + clipped * logistic(-clipped));
    case F::Softplus:
      return s;
    case F::Elu:
      return x >= 0.0 ? 1.0 : std::exp(clipped);
  }
  return 1.0;
}

Upper Activation::lipschitz() const { return max_slope(-INFINITY, INFINITY); }

Upper Activation::max_slope(double lower, double upper) const {
  switch (function_) {
    case F::Identity:
      return Upper::exact(1.0);
    case F::Relu:
      return Upper::exact(upper > 0.0 ? 1.0 : 0.0);
    case F::LeakyRelu: {
      const double left = lower < 0.0 ? std::abs(slope_) : 0.0;
      return Upper::exact(std::max(left, upper > 0.0 ? 1.0 : 0.0));
    }
    default:
      break;
  }
  double largest = larger_or_nan(std::abs(derivative(lower)), std::abs(derivative(upper)));
  for (const double x : inflections(function_)) {
    if (lower <= x && x <= upper) largest = larger_or_nan(largest, std::abs(derivative(x)));
  }
  return Upper::within(largest, kSlopeError);
}

double Activation::value_error(double magnitude) const {
  switch (function_) {
    case F::Identity:
    case F::Relu:
      return 0.0;
    default: {
      const double largest_value = lipschitz().upper * magnitude + std::abs((*this)(0.0));
      return 2 * kElementaryFunctionError * (largest_value + 1.0);
    }
  }
}

}  // namespace mixcert
