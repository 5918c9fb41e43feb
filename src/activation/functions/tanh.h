// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// tanh x, and tanhshrink, x - tanh x.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr Analytic kTanhDomain{
    .strip =
        [](double w) {
          const TanhBound t(w);
          return StripBound{w, t.value, t.slope, 2.0 * t.value * t.slope};
        },
    .widest_strip = [](double) { return 1.3; },
    .panel_half_width = 1.0,
    .zone = 20.0,
    .tanh_form = TanhForm{.height = 1.0, .rate = 1.0},
    // f'' = -2 f f', f''' = f' (6 f^2 - 2)
    .bends =
        [](double nearest, double, double steepest) {
          const double bell = nearest > 0.0 ? steepest : 1.0;
          return Bends{std::min(0.77, 2.0 * bell), std::min(2.0, 4.0 * bell)};
        },
};

inline constexpr Smooth kTanhShape{
    .limits = Limits::bounded(1.0),
    .slopes = SlopeShape::peak_at_zero(),
    .curvature = 0.77,
    .second_derivative = [](double, double value, double slope) { return -2.0 * value * slope; },
    .has_convex_size = false,
    .domain = kTanhDomain,
};

inline constexpr ActivationTraits kTanh{
    .function = ActivationFunction::Tanh,
    .name = "tanh",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return std::tanh(x); },
    .derivative =
        [](double x, const ActivationParameters&) {
          const double c = std::cosh(clipped(x));
          return 1.0 / (c * c);
        },
    .values_at_nodes = [](NodeArray& z,
                          const ActivationParameters&) { z = 1.0 - 2.0 / (1.0 + (2.0 * z).exp()); },
    .slopes_at_nodes =
        [](NodeArray& z, const ActivationParameters&) {  // 4 e / (1 + e)^2, e = exp(-2|z|)
          z = (-2.0 * z.abs()).exp();
          z = 4.0 * z / (1.0 + z).square();
        },
    .shape = kTanhShape,
};

inline constexpr Analytic kTanhshrinkDomain{
    // f' = tanh^2, f' - 1 = -tanh', f'' = 2 tanh tanh'
    .strip =
        [](double w) {
          const TanhBound t(w);
          return StripBound{w, kUnbounded, t.slope, 2.0 * t.value * t.slope};
        },
    .widest_strip = [](double) { return 1.3; },
    .panel_half_width = 1.0,
    .zone = 20.0,
    .tanh_form = TanhForm::none(),
    // f'' and f''' are those of -tanh.
    .bends =
        [](double nearest, double, double) {
          const double c = std::cosh(clipped(nearest)), bell = 1.0 / (c * c);
          return Bends{std::min(0.77, 2.0 * bell), std::min(2.0, 4.0 * bell)};
        },
};

inline constexpr Smooth kTanhshrinkShape{
    // f(z) - z = -tanh z.
    .limits = Limits::lines(
        1.0, 1.0, [](double z) { return -std::tanh(z); },
        [](NodeArray& z) { z = 2.0 / (1.0 + (2.0 * z).exp()) - 1.0; }),
    .slopes = SlopeShape::trough_at_zero(),
    .curvature = 0.77,
    .second_derivative =
        [](double z, double, double) {
          const double c = std::cosh(clipped(z));
          return 2.0 * std::tanh(z) / (c * c);
        },
    .has_convex_size = true,
    .domain = kTanhshrinkDomain,
};

inline constexpr ActivationTraits kTanhshrink{
    .function = ActivationFunction::Tanhshrink,
    .name = "tanhshrink",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return x - std::tanh(x); },
    .derivative =
        [](double x, const ActivationParameters&) {
          const double t = std::tanh(clipped(x));
          return t * t;
        },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = kTanhshrinkShape,
};

}  // namespace mixcert::functions
