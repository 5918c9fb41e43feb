// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the neurons of the second hidden layer add up to at the output: the first layer's error alone (Y.20),
// and together with the second one's (Y.28).
#pragma once

#include <vector>

#include "certify/moment_error.h"
#include "certify/two_stage_neuron.h"

namespace mixcert {

/// Of the layer's weights; zero where they are not random.
Matrix weight_variances(const DenseLayer& layer);

/// Sb: per output, the variance that the layer's own weights and biases make of activations with these
/// moments.
Vector own_noise(const DenseLayer& layer, const SurrogateLaw& law);

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
                               const PieceError& second, const CarriedNorm& output, double lipschitz);

}  // namespace mixcert
