// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// right x for x >= 0, height (e^(x/length) - 1) for x < 0: elu with alpha != 1, selu and celu (V.9).
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

struct ExponentialLeft {
  double height, length, right;
  /// Of the left piece at zero, its largest.
  [[nodiscard]] double left_slope() const { return height / length; }
};

/// What the records of such functions share.
template <ExponentialLeft (*form_of)(const ActivationParameters&)>
struct ExponentialLeftRecord {
  static double value(double x, const ActivationParameters& with) {
    const ExponentialLeft f = form_of(with);
    return x >= 0.0 ? f.right * x : f.height * std::expm1(x / f.length);
  }
  static double derivative(double x, const ActivationParameters& with) {
    const ExponentialLeft f = form_of(with);
    return x >= 0.0 ? f.right : f.left_slope() * std::exp(x / f.length);
  }
  static Cuts kinks(const ActivationParameters& /*with*/) { return {0.0}; }
  /// Panels of two lengths down to -40, from where on f is constant up to a unit of roundoff.
  static Cuts panel_ends(const ActivationParameters& with) {
    Cuts ends;
    for (int j = -20; j <= 0; ++j) ends.push_back(2.0 * j * form_of(with).length);
    return ends;
  }
  static double difference(std::size_t piece, double from, double step, const ActivationParameters& with) {
    const ExponentialLeft f = form_of(with);
    if (piece == 1) return f.right * step;
    // From the larger of both ends, so that nothing overflows.
    if (step > 0.0) return -f.height * std::exp((from + step) / f.length) * std::expm1(-step / f.length);
    return f.height * std::exp(from / f.length) * std::expm1(step / f.length);
  }
  /// No less (sign = 1) or no more (-1) than the slope of the left piece.
  static double bounded_left_slope(double x, double sign, const ActivationParameters& with) {
    const ExponentialLeft f = form_of(with);
    if (x >= 0.0) return f.left_slope();
    const double exponent = std::max(x / f.length, -1000.0);
    const double slope = f.left_slope() * std::exp(exponent);
    return std::clamp(slope * (1.0 + sign * kUnitRoundoff * (64.0 - 2.0 * exponent)), 0.0, f.left_slope());
  }
  /// Slopes of both sides at the kink.
  static SlopeRange slopes(double lower, double upper, const ActivationParameters& with) {
    const double right = form_of(with).right;
    if (lower > 0.0) return {right, right};
    const double low = bounded_left_slope(lower, -1.0, with), high = bounded_left_slope(upper, 1.0, with);
    return upper < 0.0 ? SlopeRange{low, high} : SlopeRange{std::min(low, right), std::max(high, right)};
  }
  /// Ellipses of panels of two lengths reach 1.125 lengths beyond their right ends: e^1.125 < 3.1.
  static double panel_slope(double lower, double upper, const ActivationParameters& with) {
    const double right = form_of(with).right;
    if (lower > 0.0) return right;
    const double left = 3.1 * bounded_left_slope(upper, 1.0, with);
    return upper < 0.0 ? left : std::max(left, right);
  }
  static FarLines far(const ActivationParameters& with) {
    const ExponentialLeft f = form_of(with);
    return {0.0, f.right, f.height, kUnbounded};
  }
  static double largest_deviation(const ActivationParameters& with) { return 1e12 * form_of(with).length; }

  static constexpr Pieced kShape{
      .kinks = kinks,
      .panel_ends = panel_ends,
      .difference = difference,
      .slopes = slopes,
      .panel_slope = panel_slope,
      .far = far,
      .largest_deviation = largest_deviation,
      .is_linear = false,
  };
};

inline ExponentialLeft elu_form(const ActivationParameters& with) { return {with.alpha, 1.0, 1.0}; }
inline ExponentialLeft celu_form(const ActivationParameters& with) { return {with.alpha, with.alpha, 1.0}; }
/// Mean 0 and variance 1 are its fixed point.
inline ExponentialLeft selu_form(const ActivationParameters& /*with*/) {
  constexpr double kScale = 1.0507009873554804934, kAlpha = 1.6732632423543772848;
  return {kScale * kAlpha, 1.0, kScale};
}

/// alpha != 1: the slope jumps at zero. The other one: elu.h.
inline constexpr ActivationTraits kKinkedElu{
    .function = ActivationFunction::Elu,
    .name = "elu",
    .parameters = ParameterSet::Alpha,
    .value = ExponentialLeftRecord<elu_form>::value,
    .derivative = ExponentialLeftRecord<elu_form>::derivative,
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = ExponentialLeftRecord<elu_form>::kShape,
};

inline constexpr ActivationTraits kCelu{
    .function = ActivationFunction::Celu,
    .name = "celu",
    .parameters = ParameterSet::Alpha,
    .value = ExponentialLeftRecord<celu_form>::value,
    .derivative = ExponentialLeftRecord<celu_form>::derivative,
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = ExponentialLeftRecord<celu_form>::kShape,
};

inline constexpr ActivationTraits kSelu{
    .function = ActivationFunction::Selu,
    .name = "selu",
    .parameters = ParameterSet::None,
    .value = ExponentialLeftRecord<selu_form>::value,
    .derivative = ExponentialLeftRecord<selu_form>::derivative,
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = ExponentialLeftRecord<selu_form>::kShape,
};

}  // namespace mixcert::functions
