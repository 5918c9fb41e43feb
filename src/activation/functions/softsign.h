// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// x/(1 + |x|): one analytic half on either side of zero, with poles at -1 and 1, and tails that fall like 1/x
// (V.9).
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline double softsign_slope(double x) { return 1.0 / ((1.0 + std::abs(x)) * (1.0 + std::abs(x))); }

/// The point of [lower, upper] nearest to zero.
inline double softsign_nearest(double lower, double upper) {
  return lower <= 0.0 && upper >= 0.0 ? 0.0 : std::min(std::abs(lower), std::abs(upper));
}

inline constexpr Pieced kSoftsignShape{
    .kinks = [](const ActivationParameters&) { return Cuts{0.0}; },
    // A panel of [2^j - 1, 2^(j+1) - 1] around c has half-widths of at most (1 + c)/3, and so have all panels
    // beyond 2^20 - 1 where the deviation is 1e5 at most.
    .panel_ends =
        [](const ActivationParameters&) {
          Cuts ends;
          for (int j = 20; j >= 0; --j) ends.push_back(1.0 - std::ldexp(1.0, j));
          for (int j = 1; j <= 20; ++j) ends.push_back(std::ldexp(1.0, j) - 1.0);
          return ends;
        },
    .difference =
        [](std::size_t, double from, double step, const ActivationParameters&) {
          return step / (1.0 + std::abs(from)) / (1.0 + std::abs(from + step));
        },
    .slopes =
        [](double lower, double upper, const ActivationParameters&) {
          constexpr double kRounding = 8 * kUnitRoundoff;
          const double farthest = larger_or_nan(std::abs(lower), std::abs(upper));
          const double high = softsign_slope(softsign_nearest(lower, upper));
          return SlopeRange{softsign_slope(farthest) * (1.0 - kRounding),
                            std::min(1.0, high * (1.0 + kRounding))};
        },
    // |1 + z| >= (1 - 2.125/3) (1 + c) in the ellipse of a panel around c > 0, and c >= nearest.
    .panel_slope =
        [](double lower, double upper, const ActivationParameters&) {
          return 12.0 * softsign_slope(softsign_nearest(lower, upper));
        },
    .far =
        [](const ActivationParameters&) {
          return FarLines{0.0, 0.0, 1.0, 1.0};
        },
    .largest_deviation = [](const ActivationParameters&) { return 1e5; },
    .is_linear = false,
};

inline constexpr ActivationTraits kSoftsign{
    .function = ActivationFunction::Softsign,
    .name = "softsign",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return x / (1.0 + std::abs(x)); },
    .derivative = [](double x, const ActivationParameters&) { return softsign_slope(x); },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = kSoftsignShape,
};

}  // namespace mixcert::functions
