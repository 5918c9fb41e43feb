// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values, slopes and Lipschitz constants of the activations: docs/theory/activations.md,
// (A.1) and (A.2).
#include "mixcert/activation/activation.h"

#include <algorithm>
#include <cmath>

#include "activation/activation_traits.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

// Absolute error of a computed slope: a few roundings of numbers below 2.
constexpr double kSlopeError = 64 * kUnitRoundoff;

// With one slope it is leaky_relu, which takes any finite one.
constexpr std::string_view kPreluAlias = "prelu";

void check_parameters(const ActivationTraits& traits, const ActivationParameters& p) {
  const std::string name(traits.name.get());
  require(std::isfinite(p.slope), "leaky_relu: slope must be finite");
  switch (traits.parameters.get()) {
    case ParameterSet::None:
    case ParameterSet::Slope:
      return;
    case ParameterSet::Range:
      require(std::isfinite(p.lower) && std::isfinite(p.upper) && p.lower < p.upper,
              name + ": expected finite numbers lower < upper, got " + std::to_string(p.lower) + " and " +
                  std::to_string(p.upper));
      return;
    case ParameterSet::Alpha:
      require(std::isfinite(p.alpha) && p.alpha > 0.0,
              name + ": expected a finite alpha above 0, got " + std::to_string(p.alpha));
      return;
  }
}

}  // namespace

const std::vector<ActivationFunction>& all_activation_functions() {
  static const std::vector<ActivationFunction> all = [] {
    std::vector<ActivationFunction> result;
    for (int number = 0; find_traits(static_cast<ActivationFunction>(number)) != nullptr; ++number) {
      result.push_back(static_cast<ActivationFunction>(number));
    }
    return result;
  }();
  return all;
}

std::string_view to_string(ActivationFunction function) { return traits_of(function).name.get(); }

ActivationFunction parse_activation_function(std::string_view name) {
  if (name == kPreluAlias) return ActivationFunction::LeakyRelu;
  std::string known;
  for (const ActivationFunction function : all_activation_functions()) {
    const std::string_view text = to_string(function);
    if (text == name) return function;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw InvalidArgument("unknown activation '" + std::string(name) + "', expected one of " + known);
}

const std::vector<ActivationParameter>& parameters_of(ActivationFunction function) {
  static const std::vector<ActivationParameter> none;
  static const std::vector<ActivationParameter> slope = {{"slope", &ActivationParameters::slope}};
  static const std::vector<ActivationParameter> range = {{"lower", &ActivationParameters::lower},
                                                         {"upper", &ActivationParameters::upper}};
  static const std::vector<ActivationParameter> alpha = {{"alpha", &ActivationParameters::alpha}};
  switch (traits_of(function).parameters.get()) {
    case ParameterSet::None:
      break;
    case ParameterSet::Slope:
      return slope;
    case ParameterSet::Range:
      return range;
    case ParameterSet::Alpha:
      return alpha;
  }
  return none;
}

Activation::Activation(ActivationFunction function, double slope)
    : Activation(function, ActivationParameters{.slope = slope}) {}

Activation::Activation(ActivationFunction function, const ActivationParameters& parameters)
    : function_(function), parameters_(parameters), traits_(&traits_of(function, parameters)) {
  check_parameters(*traits_, parameters_);
}

bool Activation::is_positively_homogeneous() const { return traits_->linear() != nullptr; }

double Activation::operator()(double x) const { return traits_->value(x, parameters_); }

double Activation::derivative(double x) const { return traits_->derivative(x, parameters_); }

Matrix Activation::apply(ConstMatrixRef x) const {
  // Shortcuts of the general case.
  if (function_ == ActivationFunction::Identity) return x;
  if (function_ == ActivationFunction::Relu) return positive_part(x);
  return x.unaryExpr([this](double value) { return (*this)(value); });
}

SlopeRange Activation::slope_range() const {
  if (const PiecewiseLinear* linear = traits_->linear()) {
    const double left = linear->left(parameters_.slope);
    return {std::min(left, 1.0), std::max(left, 1.0)};
  }
  if (const Pieced* pieced = traits_->pieced()) return pieced->slopes(-INFINITY, INFINITY, parameters_);
  const double high = lipschitz().upper;
  const SlopeShape& shape = traits_->smooth()->slopes;
  return {shape.is_symmetric_about_half() ? next_down(1.0 - high) : shape.least(), high};
}

UpperBound Activation::lipschitz() const { return max_slope(-INFINITY, INFINITY); }

UpperBound Activation::max_slope(double lower, double upper) const {
  if (const PiecewiseLinear* linear = traits_->linear()) {
    if (!linear->has_kink) return UpperBound::exact(1.0);
    const double left = lower < 0.0 ? std::abs(linear->left(parameters_.slope)) : 0.0;
    return UpperBound::exact(std::max(left, upper > 0.0 ? 1.0 : 0.0));
  }
  if (const Pieced* pieced = traits_->pieced()) {
    const SlopeRange range = pieced->slopes(lower, upper, parameters_);
    return UpperBound::exact(larger_or_nan(std::abs(range.low), std::abs(range.high)));
  }
  double largest = larger_or_nan(std::abs(derivative(lower)), std::abs(derivative(upper)));
  for (const double x : traits_->smooth()->slopes.get().turns()) {
    if (lower <= x && x <= upper) largest = larger_or_nan(largest, std::abs(derivative(x)));
  }
  return UpperBound::within(largest, kSlopeError);
}

double Activation::largest_value() const {
  if (const Pieced* pieced = traits_->pieced()) return pieced->far(parameters_).largest;
  const Smooth* smooth = traits_->smooth();
  return smooth != nullptr ? smooth->limits.get().largest() : INFINITY;
}

double Activation::value_error(double magnitude) const {
  // One product by a slope, or none.
  if (const PiecewiseLinear* linear = traits_->linear()) {
    return linear->is_computed_exactly ? 0.0 : 2 * kUnitRoundoff * lipschitz().upper * magnitude;
  }
  const double largest_value = lipschitz().upper * magnitude + std::abs((*this)(0.0));
  return 2 * kElementaryFunctionError * (largest_value + 1.0);
}

}  // namespace mixcert
