// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Stein kernels of a ReLU neuron in closed form (Y.11).
#pragma once

#include <array>

#include "theorems/stein/neuron_kernels.h"

namespace mixcert {

/// Whether relu_kernels knows the neuron (m + s x)_+, s > 0.
bool has_relu_kernels(double m, double s);
/// Of (s (x - k))_+, k = -m/s as rounded: within `moved` of the neuron in L2.
NeuronKernels relu_kernels(double m, double s);

// int_k^inf (x - k)^n P(Z > x)^2/phi(x) dx, n = 0..4: the only integrals in the second moments of a ReLU
// neuron's Stein kernels that have no closed form (Y.11).

/// Integrals are known for |k| up to this.
inline constexpr double kFarthestKink = 20.0;
inline constexpr int kTailPowers = 5;

struct SquaredTails {
  std::array<double, kTailPowers> value{};
  std::array<double, kTailPowers> error{};
};

/// |k| <= kFarthestKink.
SquaredTails squared_tails(double k);

}  // namespace mixcert
