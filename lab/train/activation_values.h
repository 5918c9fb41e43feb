// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activation functions and their derivatives on whole matrices of floats. The core's Activation is
// exact to double precision, one number at a time: too slow for training.
#pragma once

#include "data/dataset.h"
#include "mixcert/activation/activation.h"

namespace mixcert::lab {

/// f(x) entry by entry.
FloatRows activation_values(const Activation& activation, const FloatRows& x);
/// f'(x) entry by entry; at a kink the left derivative.
FloatRows activation_slopes(const Activation& activation, const FloatRows& x);

/// Initial weights of a layer in front of the activation have this over the number of inputs as variance:
/// twice as much for functions that let about half of their arguments through.
double initial_variance(const Activation& activation);

}  // namespace mixcert::lab
