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
  std::string known;
  for (const ActivationFunction function : all_activation_functions()) {
    const std::string_view text = to_string(function);
    if (text == name) return function;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw InvalidArgument("unknown activation '" + std::string(name) + "', expected one of " + known);
}

Activation::Activation(ActivationFunction function, double slope)
    : function_(function), traits_(&traits_of(function)), slope_(slope) {
  require(std::isfinite(slope), "leaky_relu: slope must be finite");
}

bool Activation::has_slope() const { return traits_->has_slope; }

bool Activation::is_positively_homogeneous() const { return traits_->linear() != nullptr; }

double Activation::operator()(double x) const { return traits_->value(x, slope_); }

double Activation::derivative(double x) const { return traits_->derivative(x, slope_); }

Matrix Activation::apply(ConstMatrixRef x) const {
  // Shortcuts of the general case.
  if (function_ == ActivationFunction::Identity) return x;
  if (function_ == ActivationFunction::Relu) return positive_part(x);
  return x.unaryExpr([this](double value) { return (*this)(value); });
}

SlopeRange Activation::slope_range() const {
  if (const PiecewiseLinear* linear = traits_->linear()) {
    const double left = linear->left(slope_);
    return {std::min(left, 1.0), std::max(left, 1.0)};
  }
  const double high = lipschitz().upper;
  return {traits_->smooth()->slopes.get().is_symmetric_about_half() ? next_down(1.0 - high) : 0.0, high};
}

UpperBound Activation::lipschitz() const { return max_slope(-INFINITY, INFINITY); }

UpperBound Activation::max_slope(double lower, double upper) const {
  if (const PiecewiseLinear* linear = traits_->linear()) {
    if (!linear->has_kink) return UpperBound::exact(1.0);
    const double left = lower < 0.0 ? std::abs(linear->left(slope_)) : 0.0;
    return UpperBound::exact(std::max(left, upper > 0.0 ? 1.0 : 0.0));
  }
  double largest = larger_or_nan(std::abs(derivative(lower)), std::abs(derivative(upper)));
  for (const double x : traits_->smooth()->slopes.get().turns()) {
    if (lower <= x && x <= upper) largest = larger_or_nan(largest, std::abs(derivative(x)));
  }
  return UpperBound::within(largest, kSlopeError);
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
