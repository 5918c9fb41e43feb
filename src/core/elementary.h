// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Elementary functions for inner loops.
#pragma once

#include <array>

#include "mixcert/core/types.h"

namespace mixcert {

// Two formulas that several files use: x^2 without std::pow, which is slower and not always exact, and the
// inner product of matrices.

inline double square(double x) { return x * x; }

/// tr(a' b).
inline double inner(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

// Five Gauss-Legendre nodes on [0, 1]. For a function of modulus at most M in the ellipse r around an
// interval their error is at most 8 M r^-10/(1 - 1/r) per half-width (V.3).

inline constexpr std::array<double, 5> kFiveNodes = {0.046910077030668004, 0.23076534494715845, 0.5,
                                                     0.76923465505284155, 0.95308992296933200};
inline constexpr std::array<double, 5> kFiveWeights = {
    0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324, 0.11846344252809454};

// x^n by repeated squaring: at most 2 log2(n) + 2 roundings, and ten times faster than std::pow.

inline double whole_power(double x, Index n) {
  double result = 1.0;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result *= x;
    x *= x;
  }
  return result;
}

}  // namespace mixcert
