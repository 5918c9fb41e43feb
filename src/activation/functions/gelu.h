// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// x Phi(x).
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr Analytic kGeluDomain{
    .strip =
        [](double w) {
          const double growth = std::exp(0.5 * w * w);
          return StripBound{w, kUnbounded, 1.0 + growth * (0.7979 * w + 0.24198),
                            growth * (0.39895 * (2.0 + w * w) + 0.29354)};
        },
    .widest_strip = [](double s) { return std::sqrt(29.0 / (2.0 + 0.5 / (s * s))); },
    .panel_half_width = 1.5,
    .zone = 9.0,
    .tanh_form = TanhForm::none(),
    // f'' = (2 - x^2) phi, f''' = (x^3 - 4 x) phi
    .bends =
        [](double nearest, double farthest, double) {
          const double bell = normal_density(nearest), square = farthest * farthest;
          return Bends{std::min(0.8, std::max(2.0, square) * bell),
                       std::min(0.8, farthest * std::max(4.0, square) * bell)};
        },
};

inline constexpr Smooth kGeluShape{
    // f(z) - z = f(-z).
    .limits =
        Limits::line([](double z) { return -z * normal_cdf(-z); },
                     [](NodeArray& z) { z = z.unaryExpr([](double x) { return -x * normal_cdf(-x); }); }),
    .slopes = SlopeShape::symmetric_about_half(std::numbers::sqrt2),
    .curvature = 0.8,
    .second_derivative = [](double z, double, double) { return (2.0 - z * z) * normal_density(z); },
    .has_convex_size = false,
    .domain = kGeluDomain,
};

inline constexpr ActivationTraits kGelu{
    .function = ActivationFunction::Gelu,
    .name = "gelu",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return x * normal_cdf(x); },
    .derivative =
        [](double x, const ActivationParameters&) {
          return normal_cdf(clipped(x)) + clipped(x) * normal_density(clipped(x));
        },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = kGeluShape,
};

}  // namespace mixcert::functions
