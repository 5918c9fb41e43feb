// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the neurons of the second hidden layer add up to at the output: the first layer's error alone (Y.20),
// and together with the second one's (Y.28).
#pragma once

#include <vector>

#include "methods/moment/moment_error.h"
#include "theorems/two_layers/second_layer_neuron.h"

namespace mixcert {

/// The parts of (Y.20): its right side is the sum of the squares.
struct CarriedParts {
  double mean = 0.0;   ///< of the conditional means
  Vector around;       ///< |T_l|^2 E (D_l - alpha_l delta_l)^2, one entry per neuron
  double whole = 0.0;  ///< root of sum_l w_l E D_l^2

  /// `d` and `q`: no less than the norms of d_j and q_j.
  CarriedParts(const DenseLayer& layer, const DenseLayer& next, const Vector& d, const Vector& q,
               const std::vector<NeuronCarry>& neurons);
  [[nodiscard]] double distance() const;
};

struct JoinedDistance {
  double distance = 0.0;
  double slack = 0.0;  ///< of the second layer's inputs, which are not quite those of (Y.20)
};

/// (Y.28): of both layers. `second` is the second layer's error with its surrogate `law`, `lipschitz` a
/// constant of its activation.
JoinedDistance joined_distance(const CarriedParts& first, const std::vector<NeuronSpread>& spreads,
                               const DenseLayer& layer, const DenseLayer& next, const SurrogateLaw& law,
                               const PieceError& second, const NormTerm& output, double lipschitz);

}  // namespace mixcert
