// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// log(1 + e^x), whose derivative is the logistic function g, and logsigmoid, -log(1 + e^-x), its mirror
// image.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline double softplus(double x) { return positive_part(x) + std::log1p(std::exp(-std::abs(x))); }

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
    .limits = Limits::line([](double z) { return softplus(-z); },
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
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return softplus(x); },
    .derivative = [](double x, const ActivationParameters&) { return logistic(clipped(x)); },
    .values_at_nodes =
        [](NodeArray& z, const ActivationParameters&) {
          z = positive_part(z) + (1.0 + (-z.abs()).exp()).log();
        },
    .slopes_at_nodes = [](NodeArray& z,
                          const ActivationParameters&) { z = 1.0 / (1.0 + (-z.max(-700.0)).exp()); },
    .shape = kSoftplusShape,
};

inline constexpr Smooth kLogSigmoidShape{
    // f(z) - z = -log(1 + e^z).
    .limits = Limits::lines(
        1.0, 0.0, [](double z) { return -softplus(z); },
        [](NodeArray& z) { z = -(positive_part(z) + (1.0 + (-z.abs()).exp()).log()); }),
    .slopes = SlopeShape::monotone(),
    .curvature = 0.25,
    .second_derivative = [](double z, double, double) { return -logistic_bell(z); },
    .has_convex_size = true,
    // Derivatives at z have the sizes of those of softplus at -z.
    .domain = kSoftplusDomain,
};

inline constexpr ActivationTraits kLogSigmoid{
    .function = ActivationFunction::LogSigmoid,
    .name = "logsigmoid",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return -softplus(-x); },
    .derivative = [](double x, const ActivationParameters&) { return logistic(-clipped(x)); },
    .values_at_nodes =
        [](NodeArray& z, const ActivationParameters&) {
          z = -(positive_part(-z) + (1.0 + (-z.abs()).exp()).log());
        },
    .slopes_at_nodes = [](NodeArray& z,
                          const ActivationParameters&) { z = 1.0 / (1.0 + z.min(700.0).exp()); },
    .shape = kLogSigmoidShape,
};

}  // namespace mixcert::functions
