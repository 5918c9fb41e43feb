// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// x T(x), T(x) = tanh(log(1 + e^x)) = 1 - 2/D, D = e^2x + 2 e^x + 2.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

/// T and its derivatives, from e^-|x|.
struct MishFactor {
  double value, slope, bend;
  double rest;  ///< T - 1

  explicit MishFactor(double x) {
    const double e = std::exp(-std::abs(x));
    const bool is_right = x > 0.0;
    // D, over e^2x on the right.
    const double d = is_right ? 1.0 + e * (2.0 + 2.0 * e) : 2.0 + e * (2.0 + e);
    const double scale = is_right ? e * e : 1.0;
    value = is_right ? (1.0 + 2.0 * e) / d : e * (2.0 + e) / d;
    rest = -2.0 * scale / d;
    slope = 4.0 * (is_right ? e * e : e) * (1.0 + e) / (d * d);
    const double turn =
        is_right ? e * (-2.0 + e * (-3.0 + e * (2.0 + 2.0 * e))) : 2.0 + e * (2.0 + e * (-3.0 - 2.0 * e));
    bend = 4.0 * e * turn / (d * d * d);
  }
};

/// e^z, large enough for every ratio to have its limit.
inline NodeArray mish_exponential(const NodeArray& z) { return z.min(300.0).exp(); }

inline constexpr Analytic kMishDomain{
    // Poles of T are at log(sqrt 2) +- 3 pi i/4; half_width <= pi/2 (V.5).
    .strip =
        [](double w) {
          const double c = std::min(1.0, 1.0 - std::cos(0.75 * std::numbers::pi - w));
          const double z_times_slope = (0.4906 + 0.68 * w) / c, root = std::sqrt(c);
          return StripBound{w, kUnbounded, 1.1181 / root + z_times_slope,
                            1.36 / c + 2.0 * z_times_slope / root};
        },
    .widest_strip = [](double) { return 1.5; },
    .panel_half_width = 1.55,
    .zone = 41.0,
    .tanh_form = TanhForm::none(),
    // f'' = 2 T' + x T'', f''' = 3 T'' + x T'''; |T''| <= 2 T', |T'''| <= 4 T', T' <= min(1/3, e^-|x|)
    .bends =
        [](double nearest, double farthest, double) {
          const double bell = std::min(1.0 / 3.0, std::exp(-nearest));
          return Bends{std::min(0.75, (2.0 + 2.0 * farthest) * bell), (6.0 + 4.0 * farthest) * bell};
        },
};

inline constexpr Smooth kMishShape{
    .limits = Limits::line([](double z) { return z * MishFactor(z).rest; },
                           [](NodeArray& z) {
                             const NodeArray e = mish_exponential(z);
                             z = -2.0 * z.min(300.0) / (e * (e + 2.0) + 2.0);
                           }),
    // Zeros of f'' and the least f', which is at the left one (A.2).
    .slopes = SlopeShape::two_turns(-2.256376396360793, 1.4905711794854285, -0.1125261223894627),
    .curvature = 0.75,
    .second_derivative =
        [](double z, double, double) {
          const MishFactor t(z);
          return 2.0 * t.slope + z * t.bend;
        },
    .has_convex_size = false,
    .domain = kMishDomain,
};

inline constexpr ActivationTraits kMish{
    .function = ActivationFunction::Mish,
    .name = "mish",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return x * MishFactor(x).value; },
    .derivative =
        [](double x, const ActivationParameters&) {
          const MishFactor t(clipped(x));
          return t.value + clipped(x) * t.slope;
        },
    .values_at_nodes =
        [](NodeArray& z, const ActivationParameters&) {
          const NodeArray e = mish_exponential(z);
          z = z * (e * (e + 2.0)) / (e * (e + 2.0) + 2.0);
        },
    .slopes_at_nodes = kOneByOne,
    .shape = kMishShape,
};

}  // namespace mixcert::functions
