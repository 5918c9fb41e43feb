// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A line between two kinks and constant beyond: relu6, hardtanh, hardsigmoid (V.9).
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

/// f has the slope 1 / divisor from `begin` to `end` and lies between `lower` and `upper`.
struct ClippedLine {
  double begin, end, divisor, lower, upper;
};

/// What the records of such functions share.
template <ClippedLine (*line_of)(const ActivationParameters&)>
struct ClippedLineRecord {
  static double derivative(double x, const ActivationParameters& with) {
    const ClippedLine line = line_of(with);
    return line.begin <= x && x < line.end ? 1.0 / line.divisor : 0.0;
  }
  static Cuts kinks(const ActivationParameters& with) {
    const ClippedLine line = line_of(with);
    return {line.begin, line.end};
  }
  static double difference(std::size_t piece, double, double step, const ActivationParameters& with) {
    return piece == 1 ? step / line_of(with).divisor : 0.0;
  }
  /// Slopes of both sides at a kink.
  static SlopeRange slopes(double lower, double upper, const ActivationParameters& with) {
    const ClippedLine line = line_of(with);
    const double slope = 1.0 / line.divisor;
    const bool is_exact = line.divisor == 1.0;
    // Written so that NaN leaves nothing out.
    const bool has_line = !(lower > line.end) && !(upper < line.begin);
    const bool has_constant = !(lower > line.begin) || !(upper < line.end);
    return {has_constant ? 0.0 : (is_exact ? slope : next_down(slope)),
            has_line ? (is_exact ? slope : next_up(slope)) : 0.0};
  }
  static double panel_slope(double lower, double upper, const ActivationParameters& with) {
    return slopes(lower, upper, with).high;
  }
  static FarLines far(const ActivationParameters& with) {
    const ClippedLine line = line_of(with);
    const double largest = larger_or_nan(std::abs(line.lower), std::abs(line.upper));
    return {0.0, 0.0, largest, largest};
  }
  static double largest_deviation(const ActivationParameters& with) {
    const ClippedLine line = line_of(with);
    return 1e12 * (line.end - line.begin);
  }
  static constexpr Pieced kShape{
      .kinks = kinks,
      .panel_ends = kinks,
      .difference = difference,
      .slopes = slopes,
      .panel_slope = panel_slope,
      .far = far,
      .largest_deviation = largest_deviation,
      .is_linear = true,
  };
};

inline ClippedLine relu6_line(const ActivationParameters& /*with*/) { return {0.0, 6.0, 1.0, 0.0, 6.0}; }
inline ClippedLine hardtanh_line(const ActivationParameters& with) {
  return {with.lower, with.upper, 1.0, with.lower, with.upper};
}
inline ClippedLine hardsigmoid_line(const ActivationParameters& /*with*/) {
  return {-3.0, 3.0, 6.0, 0.0, 1.0};
}

inline constexpr ActivationTraits kRelu6{
    .function = ActivationFunction::Relu6,
    .name = "relu6",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return std::clamp(x, 0.0, 6.0); },
    .derivative = ClippedLineRecord<relu6_line>::derivative,
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = ClippedLineRecord<relu6_line>::kShape,
};

inline constexpr ActivationTraits kHardtanh{
    .function = ActivationFunction::Hardtanh,
    .name = "hardtanh",
    .parameters = ParameterSet::Range,
    .value = [](double x, const ActivationParameters& with) { return std::clamp(x, with.lower, with.upper); },
    .derivative = ClippedLineRecord<hardtanh_line>::derivative,
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = ClippedLineRecord<hardtanh_line>::kShape,
};

/// clip(x/6 + 1/2, 0, 1).
inline constexpr ActivationTraits kHardsigmoid{
    .function = ActivationFunction::Hardsigmoid,
    .name = "hardsigmoid",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return std::clamp(x / 6.0 + 0.5, 0.0, 1.0); },
    .derivative = ClippedLineRecord<hardsigmoid_line>::derivative,
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = ClippedLineRecord<hardsigmoid_line>::kShape,
};

}  // namespace mixcert::functions
