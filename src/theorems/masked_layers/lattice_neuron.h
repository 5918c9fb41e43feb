// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One neuron behind a layer of dropout masks: h = f(z), z = base + sum_j jump_j B_j, B_j independent, one
// with probability keep and zero otherwise. Its mean, mean square, linear part and the leading part of second
// order in the standardised masks X_j = (B_j - keep) (rate keep)^{-1/2}, from the law of z on a lattice,
// docs/theory/dropout-two-layers.md (D.18). Rates that differ within a layer are not handled.
#pragma once

#include "mixcert/activation/activation.h"
#include "mixcert/core/types.h"

namespace mixcert {

struct MaskedNeuron {
  double base = 0.0;
  Vector jumps;        ///< each within 8 units of roundoff, relative, of the one that is meant
  double error = 0.0;  ///< no less than what z is off by, whatever the masks, because of base and jumps
};

/// Of h~ = f(z~), z~ on a lattice, in units of 2^exponent; |h~| <= 1 in these. A neuron that is zero for all
/// masks has no error and a unit below all doubles.
struct LatticeMoments {
  int exponent = 0;
  double mean = 0.0;      ///< E h~
  double second = 0.0;    ///< E h~^2
  double absolute = 0.0;  ///< E |h~|
  Vector slopes;          ///< E h~ X_j
  /// E h~ Q of the unit vector Q = sum_{i<j} v_i v_j X_i X_j, v the directions: nearly all that h~ has of
  /// second order where z is nearly Gaussian. Zero, and v empty, where it is not known well enough.
  double curve = 0.0;
  Vector directions;
  double error = 0.0;  ///< no less than those of mean, second, absolute and each slope; infinite: no bound
  double curve_error = 0.0;  ///< no less than that of curve
  double moved = 0.0;        ///< no less than |h - h~| in L2
};

/// `points`: about how many the lattice has. Memory and work are `points` times the number of jumps.
LatticeMoments lattice_moments(const Activation& f, const MaskedNeuron& neuron, double rate, Index points);

}  // namespace mixcert
