// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The logistic function.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr Analytic kSigmoidDomain{
    .strip =
        [](double w) {
          const LogisticBound g(w);
          return StripBound{w, g.value, g.slope, g.slope * g.half.value};
        },
    .widest_strip = [](double) { return kLogisticStrip; },
    .panel_half_width = kLogisticPanel,
    .zone = kLogisticZone,
    .tanh_form = TanhForm{.height = 0.5, .rate = 0.5},
    // |f''|, |f'''| <= f'
    .bends =
        [](double nearest, double, double steepest) {
          const double bell = nearest > 0.0 ? steepest : 0.25;
          return Bends{std::min(0.0963, bell), std::min(0.126, bell)};
        },
};

inline constexpr Smooth kSigmoidShape{
    .limits = Limits::bounded(0.5),
    .slopes = SlopeShape::peak_at_zero(),
    .curvature = 0.1,
    .second_derivative = [](double, double value, double slope) { return slope * (1.0 - 2.0 * value); },
    .has_convex_size = false,
    .domain = kSigmoidDomain,
};

inline constexpr ActivationTraits kSigmoid{
    .function = ActivationFunction::Sigmoid,
    .name = "sigmoid",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return logistic(x); },
    .derivative = [](double x,
                     const ActivationParameters&) { return logistic(clipped(x)) * logistic(-clipped(x)); },
    .values_at_nodes = [](NodeArray& z, const ActivationParameters&) { z = 1.0 / (1.0 + (-z).exp()); },
    .slopes_at_nodes =
        [](NodeArray& z, const ActivationParameters&) {  // e / (1 + e)^2, e = exp(-|z|)
          z = (-z.abs()).exp();
          z = z / (1.0 + z).square();
        },
    .shape = kSigmoidShape,
};

}  // namespace mixcert::functions
