// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds of the second and third derivative of an activation on an interval (Y.11). A saturated neuron hardly
// bends, so the global bounds would be of no use for it.
#pragma once

#include "activation/activation_traits.h"

namespace mixcert {

/// f''(z), given f(z) and f'(z); at the kink of elu that of its left side.
double second_derivative(const Activation& f, double z, double value, double slope);

/// Between z0 and z1, on one side of a kink if there is one; f' at the two ends is given.
Bends bends_between(const Activation& f, double z0, double z1, double slope0, double slope1);

}  // namespace mixcert
