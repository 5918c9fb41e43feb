// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// log(1 + e^x), whose derivative is the logistic function g.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr Analytic kSoftplusDomain{
    .strip =
        [](double w) {
          const LogisticBound g(w);
          return StripBound{w, kUnbounded, g.value, g.slope};
        },
    .widest_strip = [](double) { return kLogisticStrip; },
    .panel_half_width = kLogisticPanel,
    .zone = kLogisticZone,
    .tanh_form = TanhForm::none(),
    // f'' = g', |f'''| <= g'
    .bends =
        [](double nearest, double, double) {
          const double bell = logistic_bell(nearest);
          return Bends{bell, std::min(0.0963, bell)};
        },
};

inline constexpr Smooth kSoftplusShape{
    // f(z) - z = f(-z).
    .limits = Limits::line([](double z) { return positive_part(-z) + std::log1p(std::exp(-std::abs(z))); },
                           [](NodeArray& z) { z = positive_part(-z) + (1.0 + (-z.abs()).exp()).log(); }),
    .slopes = SlopeShape::monotone(),
    .curvature = 0.25,
    .second_derivative = [](double z, double, double) { return logistic_bell(z); },
    .has_convex_size = true,
    .domain = kSoftplusDomain,
};

inline constexpr ActivationTraits kSoftplus{
    .function = ActivationFunction::Softplus,
    .name = "softplus",
    .has_slope = false,
    .value = [](double x, double) { return positive_part(x) + std::log1p(std::exp(-std::abs(x))); },
    .derivative = [](double x, double) { return logistic(clipped(x)); },
    .values_at_nodes = [](NodeArray& z, double) { z = positive_part(z) + (1.0 + (-z.abs()).exp()).log(); },
    .slopes_at_nodes = [](NodeArray& z, double) { z = 1.0 / (1.0 + (-z.max(-700.0)).exp()); },
    .shape = kSoftplusShape,
};

}  // namespace mixcert::functions
