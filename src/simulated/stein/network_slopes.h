// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network at one draw of its normals: mean and variances of the output given them, and slopes of both in
// the normals, by going back through the layers. For estimates: nothing bounds the rounding.
#pragma once

#include "simulated/coupled_chain.h"

namespace mixcert {

struct NetworkSlopes {
  Vector mean, variances;               ///< u = M a + b and S(a) of the last layer
  Matrix mean_slopes, variance_slopes;  ///< a row per output, a column per normal
};

/// `normals` are those of all layers but the last.
NetworkSlopes slopes_at(const CoupledChain& chain, const Vector& normals);

}  // namespace mixcert
