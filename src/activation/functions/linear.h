// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Identity, relu and leaky_relu.
#pragma once

#include "activation/functions/formulas.h"

namespace mixcert::functions {

inline constexpr ActivationTraits kIdentity{
    .function = ActivationFunction::Identity,
    .name = "identity",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return x; },
    .derivative = [](double, const ActivationParameters&) { return 1.0; },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape =
        PiecewiseLinear{.left = [](double) { return 1.0; }, .has_kink = false, .is_computed_exactly = true},
};

inline constexpr ActivationTraits kRelu{
    .function = ActivationFunction::Relu,
    .name = "relu",
    .parameters = ParameterSet::None,
    .value = [](double x, const ActivationParameters&) { return positive_part(x); },
    .derivative = [](double x, const ActivationParameters&) { return x >= 0.0 ? 1.0 : 0.0; },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape =
        PiecewiseLinear{.left = [](double) { return 0.0; }, .has_kink = true, .is_computed_exactly = true},
};

inline constexpr ActivationTraits kLeakyRelu{
    .function = ActivationFunction::LeakyRelu,
    .name = "leaky_relu",
    .parameters = ParameterSet::Slope,
    .value = [](double x, const ActivationParameters& with) { return x >= 0.0 ? x : with.slope * x; },
    .derivative = [](double x, const ActivationParameters& with) { return x >= 0.0 ? 1.0 : with.slope; },
    .values_at_nodes = kOneByOne,
    .slopes_at_nodes = kOneByOne,
    .shape =
        PiecewiseLinear{
            .left = [](double slope) { return slope; }, .has_kink = true, .is_computed_exactly = false},
};

}  // namespace mixcert::functions
