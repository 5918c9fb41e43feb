// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// x g(x), g the logistic function.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr Analytic kSiluDomain{
    .strip =
        [](double w) {
          const LogisticBound g(w);
          return StripBound{w, kUnbounded, g.value + g.z_times_slope,
                            2.0 * g.slope + g.half.value * g.z_times_slope};
        },
    .widest_strip = [](double) { return kLogisticStrip; },
    .panel_half_width = kLogisticPanel,
    .zone = kLogisticZone,
    .tanh_form = TanhForm::none(),
    // f'' = 2 g' + x g'', f''' = 3 g'' + x g'''
    .bends =
        [](double nearest, double farthest, double) {
          const double bell = logistic_bell(nearest);
          return Bends{std::min(0.5001, (2.0 + farthest) * bell), (3.0 + farthest) * bell};
        },
};

inline constexpr Smooth kSiluShape{
    // f(z) - z = f(-z).
    .limits = Limits::line([](double z) { return -z * logistic(-z); },
                           [](NodeArray& z) { z = (-z).max(-800.0) / (1.0 + z.exp()); }),
    // Positive zero of f'' = g (1 - g) (2 + x (1 - 2g)): x tanh(x/2) = 2.
    .slopes = SlopeShape::symmetric_about_half(2.399357280515468),
    .curvature = 0.5,
    .second_derivative = [](double z, double,
                            double) { return logistic_bell(z) * (2.0 - z * std::tanh(0.5 * z)); },
    .has_convex_size = false,
    .domain = kSiluDomain,
};

inline constexpr ActivationTraits kSilu{
    .function = ActivationFunction::Silu,
    .name = "silu",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return x * logistic(x); },
    .derivative =
        [](double x, const ActivationParameters&) {
          return logistic(clipped(x)) * (1.0 + clipped(x) * logistic(-clipped(x)));
        },
    // Below -800 the function is 0; Eigen's exponential ends at e^709.
    .values_at_nodes = [](NodeArray& z,
                          const ActivationParameters&) { z = z.max(-800.0) / (1.0 + (-z).exp()); },
    .slopes_at_nodes = kOneByOne,
    .shape = kSiluShape,
};

}  // namespace mixcert::functions
