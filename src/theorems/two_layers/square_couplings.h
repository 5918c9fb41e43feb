// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How strongly the square of a sum of small errors can go with a function of the signal,
// docs/theory/two_layers.md (Y.29): both have many neurons in common, each of which has little of either.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

/// Per neuron of the first layer: gain of x_j in the signal, and of its error d_j no less than |E d x|, the
/// norm of what it has of Hermite rank two or more, and the deviation of d^2.
struct NeuronErrors {
  Vector gain, linear, bent, square_sd;
};

/// Theta for every row of m: with h = sum_j m_j gain_j x_j, delta = sum_j m_j d_j and `signal` = Var h,
/// |Cov(psi(h), delta^2)| <= Theta sd(psi(h)) for every function psi. Infinite where one neuron makes half of
/// h.
Vector square_couplings(const Matrix& m, const NeuronErrors& first, const Vector& signal);

}  // namespace mixcert
