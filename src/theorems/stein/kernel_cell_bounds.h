// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How far the Stein kernels of a neuron are from their chords on one cell (Y.11).
#pragma once

#include "activation/activation_traits.h"
#include "theorems/stein/kernel_grid.h"
#include "theorems/stein/kernel_squares.h"

namespace mixcert {

/// sup |u|, |u'|, |u''| on a cell.
struct Sups {
  double value, slope, bend;

  [[nodiscard]] Sups times(const Sups& b) const {
    return {value * b.value, slope * b.value + value * b.slope,
            bend * b.value + 2.0 * slope * b.slope + value * b.bend};
  }
};

/// An end of a cell: a, a', a'' there; h = h_d and k = h_{d^2 - v}, and what they may be off by.
struct KernelEnd {
  double x = 0.0, value = 0.0, slope = 0.0, bend = 0.0;
  double h = 0.0, k = 0.0, h_error = 0.0, k_error = 0.0;

  [[nodiscard]] KernelArray kernels(double mean) const {
    const double tau = h * slope;
    const double t = (k - (value - mean) * h) * slope;
    const double q = (k + 2.0 * mean * h) * slope;
    return {tau * value, t, q, value * t, value * q, tau};
  }
};

/// a and a' with their derivatives; how far d = a - E a is from its chord; what d and a' may be off by at an
/// end.
struct CellFunction {
  Sups value, slope;
  double bend, node_error, slope_error;
};

/// Adds no less than the integrals of squared remainders to `rest`.
void add_remainders(const KernelCell& cell, const KernelEnd& left, const KernelEnd& right,
                    const CellFunction& a, const Enclosed& mean, const Enclosed& variance, KernelArray& rest);

// Bounds of the second and third derivative of an activation on an interval (Y.11). A saturated neuron hardly
// bends, so the global bounds would be of no use for it.

/// f''(z), given f(z) and f'(z); at the kink of elu that of its left side.
double second_derivative(const Activation& f, double z, double value, double slope);

/// Between z0 and z1, on one side of a kink if there is one; f' at the two ends is given.
Bends bends_between(const Activation& f, double z0, double z1, double slope0, double slope1);

}  // namespace mixcert
