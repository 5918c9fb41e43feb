// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// x clip(x + 3, 0, 6)/6: 0 up to -3, x (x + 3)/6 up to 3, then x (V.9).
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr double kHardswishKink = 3.0;

/// Slopes of both sides at a kink. Written so that NaN leaves nothing out.
inline SlopeRange hardswish_slopes(double lower, double upper, const ActivationParameters& /*with*/) {
  constexpr double kRounding = 4 * kUnitRoundoff;
  SlopeRange range{INFINITY, -INFINITY};
  const auto include = [&range](double low, double high) {
    range = {std::min(range.low, low), std::max(range.high, high)};
  };
  if (!(lower > -kHardswishKink)) include(0.0, 0.0);
  if (!(upper < kHardswishKink)) include(1.0, 1.0);
  const double first = std::max(lower, -kHardswishKink), last = std::min(upper, kHardswishKink);
  if (!(first > last)) {
    include(std::max(-0.5, (2.0 * first + 3.0) / 6.0 - kRounding),
            std::min(1.5, (2.0 * last + 3.0) / 6.0 + kRounding));
  }
  return range;
}

inline constexpr Pieced kHardswishShape{
    .kinks =
        [](const ActivationParameters&) {
          return Cuts{-kHardswishKink, kHardswishKink};
        },
    .panel_ends =
        [](const ActivationParameters&) {
          return Cuts{-kHardswishKink, kHardswishKink};
        },
    .difference =
        [](std::size_t piece, double from, double step, const ActivationParameters&) {
          if (piece != 1) return piece == 0 ? 0.0 : step;
          return step * (2.0 * from + step + 3.0) / 6.0;
        },
    .slopes = hardswish_slopes,
    // Ellipses of [-3, 3] reach |z| = 6.375.
    .panel_slope =
        [](double lower, double upper, const ActivationParameters&) {
          if (!(lower < kHardswishKink)) return 1.0;
          return upper <= -kHardswishKink ? 0.0 : 2.7;
        },
    .far =
        [](const ActivationParameters&) {
          return FarLines{0.0, 1.0, 0.375, kUnbounded};
        },
    .largest_deviation = [](const ActivationParameters&) { return 1e12; },
    .is_linear = false,
};

inline constexpr ActivationTraits kHardswish{
    .function = ActivationFunction::Hardswish,
    .name = "hardswish",
    .parameters = ParameterSet::None,
    .value =
        [](double x, const ActivationParameters&) {
          if (x >= kHardswishKink) return x;
          return x <= -kHardswishKink ? 0.0 : x * (x + 3.0) / 6.0;
        },
    .derivative =
        [](double x, const ActivationParameters&) {
          if (x >= kHardswishKink) return 1.0;
          return x < -kHardswishKink ? 0.0 : (2.0 * x + 3.0) / 6.0;
        },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = kHardswishShape,
};

}  // namespace mixcert::functions
