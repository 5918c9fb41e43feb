// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Identity, relu and leaky_relu.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr ActivationTraits kIdentity{
    .function = ActivationFunction::Identity,
    .name = "identity",
    .has_slope = false,
    .value = [](double x, double) { return x; },
    .derivative = [](double, double) { return 1.0; },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape =
        PiecewiseLinear{.left = [](double) { return 1.0; }, .has_kink = false, .is_computed_exactly = true},
};

inline constexpr ActivationTraits kRelu{
    .function = ActivationFunction::Relu,
    .name = "relu",
    .has_slope = false,
    .value = [](double x, double) { return positive_part(x); },
    .derivative = [](double x, double) { return x >= 0.0 ? 1.0 : 0.0; },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape =
        PiecewiseLinear{.left = [](double) { return 0.0; }, .has_kink = true, .is_computed_exactly = true},
};

inline constexpr ActivationTraits kLeakyRelu{
    .function = ActivationFunction::LeakyRelu,
    .name = "leaky_relu",
    .has_slope = true,
    .value = [](double x, double slope) { return x >= 0.0 ? x : slope * x; },
    .derivative = [](double x, double slope) { return x >= 0.0 ? 1.0 : slope; },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape =
        PiecewiseLinear{
            .left = [](double slope) { return slope; }, .has_kink = true, .is_computed_exactly = false},
};

}  // namespace mixcert::functions
