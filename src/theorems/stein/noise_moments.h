// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the randomness of the noise adds along the flow (Y.12): with h_l = 1/(1 - w^2 (1 - zeta_l)), powers of
// h_l are integrals of exp(-theta zeta_l) over theta, weighed by an exponential that the flow's time decides.
#pragma once

#include <vector>

#include "theorems/stein/noise_transform.h"

namespace mixcert {

inline constexpr int kFlowCells = 32;
/// Nodes of the flow that accumulate at w = 1; node 0 is 0.
double flow_node(int i);
/// At earlier nodes noise is bounded without its law.
int first_transform_flow_node();

/// Integrals against E exp(-theta zeta_l) times 1, chi, chi^2 and rho: one row per node of the flow, one
/// column per output.
struct NoiseMoments {
  Matrix plain, cross, square, growth;
};

/// Of h^2 and of h^3.
struct NoisePowers {
  NoiseMoments second, third;
};
NoisePowers noise_moments(const NoiseTransform& transform);

}  // namespace mixcert
