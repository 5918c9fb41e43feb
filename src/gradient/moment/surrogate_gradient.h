// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of a number in a surrogate law (without masks), and through its moments back to means and
// deviations of the pre-activations (Z.6).
#pragma once

#include "methods/moment/moment_trace.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// In the fields of SurrogateLaw of the same names. Errors are constants.
struct SurrogateGradient {
  Vector mean, gain, linear, quadratic, rest, second, square_slope, square_rest;

  static SurrogateGradient zero(Index size);
};

/// In mean and deviation of every coordinate.
struct CoordinateGradient {
  Vector mean;
  Vector deviation;  ///< zero where the deviation is
};

/// Coordinates are neuron * input_count + input; `law` is surrogate_law() of these means and deviations.
CoordinateGradient surrogate_gradient(const ActivationMap& activation, ConstVectorRef means,
                                      ConstVectorRef deviations, Index input_count, const SurrogateLaw& law,
                                      const SurrogateGradient& bar);

}  // namespace mixcert
