// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What masks add to the tail of a coupling's cost, docs/theory/graphs.md (O.21): the logarithmic Sobolev
// inequality of a factor that jumps, and moments of what factors do to fixed values.
#pragma once

#include "network/graph/layer_graph.h"

namespace mixcert {

/// A mask at fixed values in front of it, the same for neurons that have a factor in common.
struct MaskedValues {
  double total = 0.0;    ///< no less than their Euclidean norm
  double largest = 0.0;  ///< of those with one factor
  Index factors = 0;
};
MaskedValues masked_values(const MaskNode& node, const Vector& x);

/// No less than the norm of order q >= 2 of the largest |factor|.
double mask_stretch(const MaskNode& node, Index factors, double q);
/// No less than the norm of order q >= 2 of |(factors - 1) o x|.
double mask_noise(const MaskNode& node, const MaskedValues& x, double q);

/// Of a factor that jumps: lambda = max(p, kappa) c(p)/2 with the constant c(p) = log(kappa/p)/(kappa - p) of
/// its logarithmic Sobolev inequality.
double jump_weight(const Mask& mask);
/// c(p)/(2 min(p, kappa)): lambda times the squared jump of the standardised factor.
double standardised_jump_weight(const Mask& mask);

}  // namespace mixcert
