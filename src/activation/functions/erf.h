// Licensed under the Apache License, Version 2.0; see LICENSE.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr Analytic kErfDomain{
    .strip =
        [](double w) {
          const double growth = std::exp(w * w);
          return StripBound{w, 1.0 + 1.12838 * w * growth, 1.12838 * growth,
                            2.25676 * growth * (0.42889 + w)};
        },
    // The fourth power of the bound grows like e^{4 w^2}.
    .widest_strip = [](double s) { return std::sqrt(29.0 / (4.0 + 0.5 / (s * s))); },
    .panel_half_width = 1.5,
    .zone = 6.2,
    .tanh_form = TanhForm::none(),
    // f'' = -2 x f', f''' = (4 x^2 - 2) f'
    .bends =
        [](double nearest, double farthest, double steepest) {
          const double bell = nearest > 0.0 ? steepest : 1.1284;
          return Bends{std::min(0.97, 2.0 * farthest * bell),
                       std::max(2.0, 4.0 * farthest * farthest) * bell};
        },
};

inline constexpr Smooth kErfShape{
    .limits = Limits::bounded(1.0),
    .slopes = SlopeShape::peak_at_zero(),
    .curvature = 0.97,
    .second_derivative = [](double z, double, double slope) { return -2.0 * z * slope; },
    .has_convex_size = false,
    .domain = kErfDomain,
};

inline constexpr ActivationTraits kErf{
    .function = ActivationFunction::Erf,
    .name = "erf",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return std::erf(x); },
    .derivative =
        [](double x, const ActivationParameters&) {
          return 2.0 * std::numbers::inv_sqrtpi * std::exp(-clipped(x) * clipped(x));
        },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = kErfShape,
};

}  // namespace mixcert::functions
