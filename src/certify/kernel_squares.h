// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mean squares of the Stein kernels of one neuron (Y.10): with d = a - E a, v = Var a and h_c = (1/phi)
// int_x^inf c phi, they are products of a' with h_d, h_{d^2 - v} and combinations of the two. Upper sums over
// cells.
#pragma once

#include "mixcert/activation/gaussian_moments.h"

namespace mixcert {

/// No less than the second and fourth moments of a kernel.
struct KernelPowers {
  double square = 0.0;
  double fourth = 0.0;

  void add(double mass, double bound) {
    const double squared = bound * bound;
    square += mass * squared;
    fourth += mass * squared * squared;
  }
};

/// In the notation of (Y.10).
struct KernelSquares {
  KernelPowers tau;           ///< tau
  KernelPowers tau_value;     ///< tau a
  KernelPowers second;        ///< Dt
  KernelPowers square;        ///< Dq
  KernelPowers second_value;  ///< a Dt
  KernelPowers square_value;  ///< a Dq
};

/// z = m + s x, s > 0. `mean` and `variance` enclose E a and Var a.
KernelSquares kernel_squares(const Activation& activation, double m, double s, const Enclosed& mean,
                             const Enclosed& variance);

}  // namespace mixcert
