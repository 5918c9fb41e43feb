// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The kernels of Stein's method at one draw of the normals, each by two independent groups of further draws,
// so that products between groups have no bias: docs/theory/simulation.md (F.15), (F.16).
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "simulated/stein/network_slopes.h"

namespace mixcert {

/// Estimates from one group.
struct SteinTensors {
  Matrix first;                              ///< T_ik = <H_i, grad u_k> + S_k 1{i=k}
  Matrix first_noise;                        ///< A_il = <H_i, grad S_l>/2
  std::vector<Matrix> second, second_noise;  ///< B_i and B^S_i, matrices in k and l
};

struct SteinDraw {
  Vector variances;  ///< S
  std::array<SteinTensors, 2> groups;
};

/// `draw` gives standard normals, as many as one draw of the network takes.
SteinDraw stein_tensors(const CoupledChain& chain, const std::function<Vector()>& draw,
                        const std::function<double()>& uniform);

}  // namespace mixcert
