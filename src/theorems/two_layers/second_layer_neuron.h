// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One neuron of the second hidden layer, docs/theory/two_layers.md (Y.21) - (Y.23), (Y.26): how far its
// activation is from that of the surrogate network, to first order and beyond.
#pragma once

#include <limits>

#include "mixcert/activation/activation.h"

namespace mixcert {

/// z = m + S^{1/2} g against z' = m' + noise^{1/2} g given the first layer's inputs x. With h = m' - E m',
/// delta = m - m', u = S/noise - 1, all centred; every number but `mean`, `noise` and `least` is no less
/// than what it stands for.
struct NeuronSpread {
  double mean = 0.0;      ///< E m'
  double noise = 0.0;     ///< E S, positive
  double least = 0.0;     ///< no more than S
  bool convex = false;    ///< is S^{1/2} a convex function of x? (Y.27)
  double signal = 0.0;    ///< E h^2
  double delta2 = 0.0;    ///< E delta^2
  double delta_sd = 0.0;  ///< |Cov(psi(h), delta^2)| over the deviation of psi(h), for every psi (Y.29)
  double delta4 = 0.0;    ///< E delta^4
  double u2 = 0.0;        ///< E u^2
  double u3 = 0.0;        ///< |E u^3|
  double u4 = 0.0;        ///< E u^4
  double h_delta = 0.0;   ///< L2 norm of h delta
  double h_u = 0.0;       ///< of h u
  double delta_u = 0.0;   ///< of delta u
  /// E p^2, p what z has on the side of zero that its mean is not on (Y.26); infinite where it is not known.
  double far_side = std::numeric_limits<double>::infinity();
};

/// With D = s(z) - s(z'):
struct NeuronCarry {
  double slope = 0.0;        ///< alpha
  double noise_slope = 0.0;  ///< gamma
  double rest = 0.0;         ///< no less than |E[D | x] - alpha delta - gamma noise u|_2
  double own = 0.0;          ///< no less than E (D - alpha delta)^2
  double whole = 0.0;        ///< no less than E D^2
};

/// `mean` and `noise` may be off by this much of the deviation and of themselves.
inline constexpr double kSpreadAccuracy = 1e-7;

NeuronCarry carry_neuron(const Activation& f, const NeuronSpread& spread);

}  // namespace mixcert
