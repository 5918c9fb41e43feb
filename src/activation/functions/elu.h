// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// x for x >= 0, e^x - 1 for x < 0: alpha = 1, where f' is continuous. Other alphas: exponential_left.h.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

/// e^z - 1 - z for z < 0, else 0.
inline double elu_less_line(double z) { return z < 0.0 ? std::expm1(z) - z : 0.0; }

inline constexpr LeftAnalytic kEluDomain{
    .zone = ActiveZone{-40.0, 0.0, 2.0},
    .panel_bound = StripBound{0.0, kUnbounded, 4.1, 3.1},
    // Ellipses reach 1.125 half-widths beyond the kink.
    .ellipse_slope = [](double s) { return 1.01 * std::exp(1.125 * std::min(0.75 * s, 1.0)); },
    .ellipse_height = 1.875,
    .ellipse_reach = 2.125,
    // f'' = f''' = f'.
    .bends =
        [](double steepest) {
          return Bends{steepest, steepest};
        },
};

inline constexpr Smooth kEluShape{
    .limits = Limits::line(elu_less_line, [](NodeArray& z) { z = z.unaryExpr(&elu_less_line); }),
    .slopes = SlopeShape::monotone(),
    .curvature = 1.0,
    .second_derivative = [](double, double, double slope) { return slope; },
    .has_convex_size = false,
    .domain = kEluDomain,
};

inline constexpr ActivationTraits kElu{
    .function = ActivationFunction::Elu,
    .name = "elu",
    .parameters = ParameterSet::Alpha,
    .value = [](double x, const ActivationParameters&) { return x >= 0.0 ? x : std::expm1(x); },
    .derivative = [](double x, const ActivationParameters&) { return x >= 0.0 ? 1.0 : std::exp(clipped(x)); },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape = kEluShape,
};

}  // namespace mixcert::functions
